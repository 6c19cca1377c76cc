//! What each line of a view is. What stands around a line decides only whether it is a header's: a table
//! that is not the view's own is text, its head and its rule, too.

use super::{
    Kind, Row, View,
    line::{cells, is_dashes, normal},
};
use crate::model::{DecisionKind, Outcome, is_blank};

/// Returns what of a line is not changed by taking it to its normal form.
fn letters(line: &str) -> impl Iterator<Item = char> {
    let changed = |c: char| c.is_whitespace() || matches!(c, '|' | '-' | ':');
    line.chars().filter(move |c| !changed(*c))
}

/// Returns the number of columns when the line is the dashes under a table's head.
fn delimiter(line: &str) -> Option<usize> {
    if letters(line).next().is_some() {
        return None;
    }
    let cells = cells(line)?;
    cells
        .iter()
        .all(|cell| is_dashes(cell))
        .then_some(cells.len())
}

/// Where a table begins: the line of its column names.
#[derive(Clone, Copy)]
struct Table {
    at: usize,
    columns: usize,
    /// It has no outer pipes.
    bare: bool,
    /// It is the view's.
    own: bool,
}

fn tables(texts: &[Option<&str>]) -> Vec<Table> {
    let text = |at: usize| texts.get(at).copied().flatten();
    (0..texts.len())
        .filter_map(|at| {
            let names = text(at)?;
            let dashes = text(at + 1)?;
            let columns = delimiter(dashes)?;
            let names_head = cells(names).is_some()
                && delimiter(names).is_none()
                && Row::parse(names, false).is_none();
            names_head.then(|| Table {
                at,
                columns,
                bare: !dashes.trim_start().starts_with('|'),
                own: false,
            })
        })
        .collect()
}

/// Returns the index of the view's own table, which stands above all that is managed or hand-written:
/// the one with our columns, else the first of four, else the first one. Decisions have none.
fn own_table(tables: &[Table], texts: &[Option<&str>]) -> Option<usize> {
    let last = tables.last()?.at;
    if texts.iter().flatten().any(|text| is_of_decisions(text)) {
        return None;
    }
    let ends = |text: &Option<&str>| text.is_some_and(ends_the_header);
    let end = texts[..last].iter().position(ends).unwrap_or(texts.len());
    let above = &tables[..tables.partition_point(|table| table.at < end)];
    let [names, _] = our_head();
    let is_ours = |table: &Table| texts[table.at].is_some_and(|text| normal(text) == names);
    let ours = above.iter().position(is_ours);
    let four = || above.iter().position(|table| table.columns == 4);
    ours.or_else(four).or((!above.is_empty()).then_some(0))
}

/// Says whether no own table begins below the line.
fn ends_the_header(text: &str) -> bool {
    text.starts_with("## BAR") || Row::parse(text, false).is_some()
}

fn is_of_decisions(text: &str) -> bool {
    is_title(text) && titles(View::Decisions).any(|title| title == normal(text))
}

fn is_title(text: &str) -> bool {
    text.starts_with("# ") || text == "#"
}

/// Returns the titles of a new file, in their normal form.
fn titles(view: View) -> impl Iterator<Item = String> {
    let lines = view.header().lines();
    lines.filter(|line| is_title(line)).map(normal)
}

/// Returns the two lines that begin the table of a new file, in their normal form.
fn our_head() -> [String; 2] {
    let mut lines = View::Verdicts.header().lines().skip(1).map(normal);
    [(); 2].map(|()| lines.next().unwrap_or_default())
}

/// Returns what each of the lines is.
pub(super) fn classify(raw: &[&[u8]]) -> Vec<Kind> {
    let texts: Vec<Option<&str>> = raw
        .iter()
        .map(|line| {
            std::str::from_utf8(line)
                .ok()
                .filter(|text| !text.contains('\0'))
        })
        .collect();
    let mut classifier = Classifier::new(&texts);
    let mut kinds = Vec::with_capacity(raw.len());
    for (at, text) in texts.iter().enumerate() {
        kinds.push(match text {
            None => Kind::Malformed("it is not text".to_owned()),
            Some(text) => classifier.line(at, text),
        });
    }
    kinds
}

/// What the lines above say of the next one.
struct Classifier<'t> {
    texts: &'t [Option<&'t str>],
    /// The table that each of its first two lines begins.
    begins: Vec<Option<Table>>,
    /// What begins the own table, and a new file's, in their normal form.
    heads: Vec<[String; 2]>,
    /// The own table has no outer pipes.
    bare: bool,
    /// The length of the marker that opened a conflict, 0 outside one.
    open: usize,
    /// The line above belongs to a table that is not the view's; whether that has no outer pipes.
    foreign: Option<bool>,
    /// Only titles and blank lines so far.
    top: bool,
    /// The line above is text that `=` would underline.
    heading: bool,
    /// The last line that shows something is a header's.
    header_above: bool,
    /// The line above begins the own table.
    head_above: bool,
    titles: Vec<String>,
}

impl<'t> Classifier<'t> {
    fn new(texts: &'t [Option<&'t str>]) -> Self {
        let mut tables = tables(texts);
        let own = own_table(&tables, texts);
        let mut heads = vec![our_head()];
        if let Some(own) = own {
            let at = tables[own].at;
            tables[own].own = true;
            heads.push([at, at + 1].map(|at| normal(texts[at].unwrap_or_default())));
            heads.dedup();
        }
        let mut begins = vec![None; texts.len()];
        for table in &tables {
            begins[table.at] = Some(*table);
            begins[table.at + 1] = Some(*table);
        }
        Self {
            texts,
            begins,
            heads,
            bare: own.is_some_and(|own| tables[own].bare),
            open: 0,
            foreign: None,
            top: true,
            heading: false,
            header_above: false,
            head_above: false,
            titles: Vec::new(),
        }
    }

    fn line(&mut self, at: usize, text: &str) -> Kind {
        if self.marker(text) {
            return Kind::Marker;
        }
        let kind = self.other(at, text);
        let shows = !is_blank(text);
        self.heading = kind == Kind::Text && shows;
        self.head_above = matches!(kind, Kind::Columns | Kind::Delimiter);
        if shows {
            self.header_above = kind.is_header();
        }
        kind
    }

    fn other(&mut self, at: usize, text: &str) -> Kind {
        let piped = text.trim_start().starts_with('|');
        self.foreign = match self.begins[at] {
            Some(table) => (!table.own).then_some(table.bare),
            None => (self.foreign).filter(|bare| *bare != piped && text.contains('|')),
        };
        if let Some(kind) = self.header(at, text) {
            self.foreign = None;
            return kind;
        }
        self.top = self.top && is_blank(text);
        if let Some(row) = Row::parse(text, self.bare) {
            return Kind::Row(row);
        }
        match self.malformed(text, piped) {
            Some(reason) if self.foreign.is_none() => Kind::Malformed(reason),
            _ => Kind::Text,
        }
    }

    /// A header's lines that come again are a header's only beside others: a table of somebody else
    /// may have our columns.
    fn header(&mut self, at: usize, text: &str) -> Option<Kind> {
        if let Some(table) = self.begins[at].filter(|table| table.own) {
            return Some(match table.at == at {
                true => Kind::Columns,
                false => Kind::Delimiter,
            });
        }
        if is_title(text) {
            return self.title(at, text).then_some(Kind::Title);
        }
        if self.head_above && self.is_head(1, text) {
            return Some(Kind::Delimiter);
        }
        let again = self.is_head(0, text)
            && (self.header_above || self.below(at).is_some_and(|next| self.is_head(0, next)))
            && Row::parse(text, false).is_none();
        again.then_some(Kind::Columns)
    }

    fn title(&mut self, at: usize, text: &str) -> bool {
        let normal_text = normal(text);
        if self.top {
            self.titles.push(normal_text);
            return true;
        }
        let mut ours = View::ALL.into_iter().flat_map(titles);
        ours.any(|title| title == normal_text)
            || (self.titles.contains(&normal_text) && self.beside(at))
    }

    /// Says whether a header's line stands above or below the title at `at`.
    fn beside(&self, at: usize) -> bool {
        let is_header = |next: &str| {
            self.is_head(0, next) || (is_title(next) && self.titles.contains(&normal(next)))
        };
        self.header_above || self.below(at).is_some_and(is_header)
    }

    /// Returns the next line that shows something and is no marker.
    fn below(&self, at: usize) -> Option<&'t str> {
        let lines = self.texts[at + 1..].iter().map(|text| text.unwrap_or("\0"));
        let mut lines = lines.filter(|text| !is_blank(text) && marker(text).is_none());
        lines.next()
    }

    /// Says whether the line is the first (0) or the second (1) of those that begin a table of ours.
    fn is_head(&self, line: usize, text: &str) -> bool {
        let mut heads = self.heads.iter().map(|head| &head[line]);
        heads.any(|head| letters(text).eq(letters(head)) && normal(text) == *head)
    }

    /// A run of seven or more `<`, `|` or `>` at the first column; `=` also between those, or where
    /// it underlines no heading.
    fn marker(&mut self, text: &str) -> bool {
        let Some((first, run)) = marker(text) else {
            return false;
        };
        match first {
            b'<' => self.open = run,
            b'=' => {
                let bare = run == text.len();
                return bare && (run == self.open || (run == 7 && !self.heading));
            }
            b'>' => self.open = 0,
            _ => {}
        }
        true
    }

    fn malformed(&self, text: &str, piped: bool) -> Option<String> {
        if is_dated(text) {
            return Some(undecided(text).to_owned());
        }
        let cells = cells(text)?;
        let last = cells.last().copied().unwrap_or_default();
        let says = Outcome::parse(&last.to_ascii_uppercase()).is_some();
        let is_tabular = piped || (self.bare && says);
        if !is_tabular {
            return None;
        }
        Some(match cells.as_slice() {
            [_, _, _, word] if Outcome::parse(word).is_some() => "it has an empty cell".to_owned(),
            [_, _, _, _] => "its last cell is no verdict".to_owned(),
            cells => format!("it has {} cells, not 4", cells.len()),
        })
    }
}

/// Returns the character and the length of the run that begins a line like a conflict's.
fn marker(text: &str) -> Option<(u8, usize)> {
    let first = text
        .bytes()
        .next()
        .filter(|first| b"<|=>".contains(first))?;
    let run = text.bytes().take_while(|byte| *byte == first).count();
    let rest = &text[run..];
    (run >= 7 && (rest.is_empty() || rest.starts_with(' '))).then_some((first, run))
}

/// Returns why a line that begins like a decision is none.
fn undecided(text: &str) -> &'static str {
    let fields: Vec<&str> = text.split('|').map(str::trim).collect();
    match fields
        .get(2)
        .map(|kind| DecisionKind::parse(kind).is_some())
    {
        Some(true) if fields.len() < 4 => "it says not what was decided, in a fourth field",
        Some(true) => "its fields are not parted by one space, a pipe and one space",
        Some(false) | None => "it has no kind of decision in its third field",
    }
}

/// Says whether the line begins like a decision.
fn is_dated(text: &str) -> bool {
    let Some((date, _)) = text.trim_start().split_once('|') else {
        return false;
    };
    let date = date.trim_end().as_bytes();
    date.len() == 10
        && date.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
