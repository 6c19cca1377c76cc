//! Start, uninstall, doctor.
