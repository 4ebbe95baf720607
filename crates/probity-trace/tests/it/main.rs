//! The record format through its public names.

mod compat;
mod damage;
mod frames;
mod samples;
mod views;
