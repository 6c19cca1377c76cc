use super::printable::{columns, width};

/// Which side of its column a cell stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows of cells in columns; the last column is cut to fit the terminal, if there is one.
///
/// A cell is one line of text without colour; colour is put on a whole column when it is printed.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    aligns: Vec<Align>,
}

impl Table {
    /// Returns an empty table whose columns stand so; further columns stand left.
    pub fn new(aligns: &[Align]) -> Self {
        Self {
            rows: Vec::new(),
            aligns: aligns.to_vec(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Returns the lines; `limit` is the width of the terminal.
    pub fn lines(&self, limit: Option<usize>) -> Vec<String> {
        self.rows_in_columns(limit)
            .into_iter()
            .map(|cells| cells.join("  ").trim_end().to_owned())
            .collect()
    }

    /// Returns the padded cells of each row, for callers that colour them.
    pub fn rows_in_columns(&self, limit: Option<usize>) -> Vec<Vec<String>> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..count)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| width(cell)).max().unwrap_or(0)
            })
            .collect();
        self.rows
            .iter()
            .map(|row| self.row_in_columns(row, &widths, limit))
            .collect()
    }

    fn row_in_columns(
        &self,
        row: &[String],
        widths: &[usize],
        limit: Option<usize>,
    ) -> Vec<String> {
        let mut cells = Vec::with_capacity(row.len());
        let mut used = 0;
        for (column, cell) in row.iter().enumerate() {
            let last = column + 1 == row.len();
            let align = self.aligns.get(column).copied().unwrap_or(Align::Left);
            let left = limit.map(|limit| limit.saturating_sub(used).max(8));
            cells.push(match (last, align) {
                (true, Align::Left) => left.map_or_else(|| cell.clone(), |left| cut(cell, left)),
                _ => padded(cell, widths[column], align),
            });
            used += widths[column] + 2;
        }
        cells
    }
}

fn padded(cell: &str, columns: usize, align: Align) -> String {
    let blank = " ".repeat(columns.saturating_sub(width(cell)));
    match align {
        Align::Left => format!("{cell}{blank}"),
        Align::Right => format!("{blank}{cell}"),
    }
}

/// Returns as much of `text` as fits `limit` columns, ending in `…` when that is not all.
pub fn cut(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = text.chars().take_while(|c| {
        used += columns(*c);
        used < limit
    });
    let mut kept: String = fits.collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Returns `text` in lines of at most `limit` columns, broken between words; a longer word is cut.
pub fn wrap(text: &str, limit: Option<usize>) -> Vec<String> {
    let Some(limit) = limit else {
        return vec![text.to_owned()];
    };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let word = cut(word, limit.max(1));
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            *line = word;
        } else if width(line) + 1 + width(&word) <= limit {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Align, Table, wrap};

    #[test]
    fn words_are_kept_whole_where_they_fit() {
        assert_eq!(wrap("one two three", None), ["one two three"]);
        assert_eq!(wrap("one two three", Some(7)), ["one two", "three"]);
        assert_eq!(wrap("extraordinary", Some(6)), ["extra…"]);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[Align::Left, Align::Right]);
        table.row(["a", "1", "first"]);
        table.row(["日本", "100", "second"]);
        assert_eq!(table.lines(None), ["a       1  first", "日本  100  second"]);
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        let mut table = Table::new(&[]);
        table.row(["id", "a long sentence that does not fit"]);
        assert_eq!(table.lines(Some(20)), ["id  a long sentence…"]);
    }
}
