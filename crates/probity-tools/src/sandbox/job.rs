//! What `shell` and its helper tell each other.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

/// Bytes of one job: arguments and standard input of a call, and the environment.
const JOB_BYTES_MAX: u32 = 16 * 1024 * 1024;

/// Everything that the helper needs to know. It reads nothing from its environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) argv: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stdin: String,
    /// The root that holds the working directory, and the directory in it without links.
    pub(crate) cwd_root: String,
    pub(crate) cwd: Vec<String>,
    /// Readable and executable beside the system's own directories.
    pub(crate) read: Vec<String>,
    /// Readable, executable and writable.
    pub(crate) write: Vec<String>,
    pub(crate) network: bool,
    pub(crate) landlock_abi_min: u32,
    pub(crate) open_files_max: u64,
    pub(crate) file_bytes_max: u64,
    pub(crate) parent: i32,
}

/// What the helper says, one line each, before it becomes the program. Silence and a closed channel after `Ready` mean
/// that the program has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The sandbox stands.
    Ready,
    /// It cannot be set up; nothing ran.
    Unavailable(String),
    /// It stands, but the program could not be started; the system's error number.
    NotStarted(Option<i32>),
}

impl Job {
    /// The job with its length before it.
    pub(crate) fn frame(&self) -> io::Result<Vec<u8>> {
        let body = serde_json::to_vec(self)?;
        let len = u32::try_from(body.len()).ok().filter(|len| *len <= JOB_BYTES_MAX);
        let len = len.ok_or_else(|| io::Error::other("the job is too big"))?;
        let mut frame = len.to_be_bytes().to_vec();
        frame.extend_from_slice(&body);
        Ok(frame)
    }

    pub(crate) fn read(mut channel: impl Read) -> io::Result<Self> {
        let mut len = [0; 4];
        channel.read_exact(&mut len)?;
        let len = u32::from_be_bytes(len);
        if len > JOB_BYTES_MAX {
            return Err(io::Error::other("the job is too big"));
        }
        let mut body = Vec::new();
        channel.take(u64::from(len)).read_to_end(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

impl Report {
    pub(crate) fn write(&self, mut channel: impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        channel.write_all(&line)
    }

    /// All reports in what the helper has said so far; nothing when it said something else.
    pub(crate) fn parse(said: &[u8]) -> Option<Vec<Self>> {
        said.split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).ok())
            .collect()
    }
}
