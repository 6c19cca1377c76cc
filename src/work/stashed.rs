//! Other people's work that went into the stash: not lost as long as it lies there.

use super::{
    Error,
    look::{Look, Looker, Sight},
    rescue::Why,
    rules::Lost,
    session::Session,
};
use crate::{git::Trees, model::Oid};

impl Session<'_> {
    /// Parts what is lost from what a stash holds.
    pub(super) fn not_stashed(&self, lost: Vec<Lost>) -> Result<(Vec<Lost>, Vec<Lost>), Error> {
        if lost.is_empty() {
            return Ok((lost, Vec::new()));
        }
        let roots = self.stash_roots()?;
        let mut trees = Trees::new(self.repo);
        let (mut gone, mut stashed) = (Vec::new(), Vec::new());
        for one in lost {
            match self.lies_in(&roots, &one, &mut trees)? {
                true => stashed.push(one),
                false => gone.push(one),
            }
        }
        Ok((gone, stashed))
    }

    /// Looks after what was stashed earlier: what is back at its path is nobody's loss any more. Returns
    /// what has left the stash for nowhere.
    pub(super) fn left_stash(&mut self, look: &Look, time: u64) -> Result<Vec<Lost>, Error> {
        if !self.rescued.found.iter().any(|one| one.why == Why::Stashed) {
            return Ok(Vec::new());
        }
        let roots = self.stash_roots()?;
        let mut trees = Trees::new(self.repo);
        let mut seen = Sight::default();
        let mut looker = Looker::new(self.repo, &mut seen, time)?;
        let mut left = Vec::new();
        let mut back = Vec::new();
        for one in self
            .rescued
            .found
            .iter()
            .filter(|one| one.why == Why::Stashed)
        {
            let lost = Lost {
                path: one.path.clone(),
                content: one.content.clone(),
                mode: one.mode,
            };
            let at = match look.dirty.get(&lost.path) {
                Some(content) => content.clone(),
                None => looker.at(&lost.path)?,
            };
            if at == lost.content {
                back.push(lost);
            } else if !self.lies_in(&roots, &lost, &mut trees)? {
                left.push(lost);
            }
        }
        for one in &back {
            self.rescued.forget(one);
        }
        Ok(left)
    }

    fn lies_in(&self, roots: &[Oid], lost: &Lost, trees: &mut Trees<'_>) -> Result<bool, Error> {
        for root in roots {
            let place = trees.place(*root, &lost.path)?;
            if place.is_some_and(|(_, id)| lost.content.blob() == Some(id)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The trees of all stashes: of the working tree, of the index, and of untracked files.
    fn stash_roots(&self) -> Result<Vec<Oid>, Error> {
        let mut roots = Vec::new();
        for stash in self.repo.stashes()? {
            let stash = self.repo.commit(stash)?;
            roots.push(stash.tree);
            for other in stash.parents.iter().skip(1) {
                roots.push(self.repo.commit(*other)?.tree);
            }
        }
        Ok(roots)
    }
}
