//! The merge driver for views.
