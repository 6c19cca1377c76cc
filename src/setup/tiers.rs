//! Tiers of models: what a seat of the workflows runs on. A tiers file is data: it is read line by line
//! and never given to a shell. A file with one bad line counts for nothing, so no layer is half applied.

use std::{collections::BTreeMap, fmt};

use thiserror::Error;

mod file;
mod load;

pub use file::{Layer, LineError, parse};
pub use load::{Error, Places, load};

/// What a seat needs a model for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Weighing: convergence, verification, review.
    Judgment,
    /// Building to a specification.
    Implement,
    /// Narrow, plentiful work.
    Mechanical,
    /// Looking things up.
    Recon,
}

impl Tier {
    /// Every tier, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::Judgment,
        Self::Implement,
        Self::Mechanical,
        Self::Recon,
    ];

    /// Returns the name that files and workflows use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Judgment => "JUDGMENT",
            Self::Implement => "IMPLEMENT",
            Self::Mechanical => "MECHANICAL",
            Self::Recon => "RECON",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }

    /// The client's own alias, which it binds to a current model by itself.
    fn built_in(self) -> &'static str {
        match self {
            Self::Judgment => "opus",
            Self::Implement => "sonnet",
            Self::Mechanical | Self::Recon => "haiku",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A model id or alias: letters, digits and `._:/@[]-`, at most 200 bytes, beginning with a letter or
/// a digit. No catalogue is asked, since catalogues lag behind what can be routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model(String);

impl Model {
    /// Accepts a model id; see the type for what is refused.
    pub fn new(id: &str) -> Result<Self, ModelError> {
        const LIMIT: usize = 200;
        if !id.starts_with(|c: char| c.is_ascii_alphanumeric()) || id.len() > LIMIT {
            return Err(ModelError(id.chars().take(LIMIT).collect()));
        }
        let legal = |c: char| c.is_ascii_alphanumeric() || "._:/@[]-".contains(c);
        if id.chars().all(legal) {
            Ok(Self(id.to_owned()))
        } else {
            Err(ModelError(id.to_owned()))
        }
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether the client reaches the model without a proxy.
    pub fn is_native(&self) -> bool {
        let plain = self.0.split('[').next().unwrap_or_default();
        matches!(
            plain,
            "opus" | "sonnet" | "haiku" | "fable" | "default" | "inherit" | "opusplan"
        ) || self.0.starts_with("claude-")
    }
}

/// A model id has a character that none can have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("'{}' is no model id", .0.escape_debug())]
pub struct ModelError(String);

/// Where a binding came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    BuiltIn,
    User,
    Project,
    Set,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
            Self::Set => "--set",
        })
    }
}

/// What every tier and every seat resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiers {
    models: BTreeMap<Tier, (Model, Source)>,
    seats: BTreeMap<String, Tier>,
}

impl Tiers {
    /// Returns the built-in bindings with `layers` over them, each over the one before.
    pub fn resolve(layers: &[(Source, Layer)]) -> Self {
        let model = |tier: Tier| (Model(tier.built_in().to_owned()), Source::BuiltIn);
        let mut tiers = Self {
            models: Tier::ALL
                .into_iter()
                .map(|tier| (tier, model(tier)))
                .collect(),
            seats: super::agents::SEATS
                .iter()
                .map(|seat| (seat.name.to_owned(), seat.tier))
                .collect(),
        };
        for (source, layer) in layers {
            for (tier, model) in &layer.models {
                tiers.models.insert(*tier, (model.clone(), *source));
            }
            tiers.seats.extend(layer.seats.clone());
        }
        tiers
    }

    /// Returns the model of a tier, and the layer that bound it.
    pub fn model(&self, tier: Tier) -> (&Model, Source) {
        let (model, source) = &self.models[&tier];
        (model, *source)
    }

    /// Returns the tier of a seat.
    pub fn seat(&self, name: &str) -> Option<Tier> {
        self.seats.get(name).copied()
    }

    /// Returns the object that workflows take as `args.tiers`.
    pub fn json(&self) -> serde_json::Value {
        let mut object = serde_json::json!({"v": 1, "type": "tiers"});
        for tier in Tier::ALL {
            object[tier.name()] = self.model(tier).0.as_str().into();
        }
        object
    }
}

/// Reads one `--set TIER=model`.
pub fn setting(text: &str) -> Result<Layer, LineError> {
    file::line(text).map(|bound| {
        let mut layer = Layer::default();
        layer.add(bound);
        layer
    })
}

#[cfg(test)]
mod tests;
