use std::sync::{Arc, Mutex};

use probity_contract::{Entry, Fact, LimitKind, Part, PartId};
use probity_trace::FrameReader;

use super::*;

/// A file in memory that takes a certain number of bytes, and may refuse to flush or to be cut.
#[derive(Debug, Clone, Default)]
struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
    calls: Arc<Mutex<Vec<&'static str>>>,
    flush_fails: bool,
    cut_fails: bool,
}

impl Medium for Disk {
    fn write_whole(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.calls.lock().unwrap().push("write");
        let mut stored = self.bytes.lock().unwrap();
        let fits = bytes.len().min(self.room - stored.len());
        stored.extend(&bytes[..fits]);
        if fits == bytes.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn flush_to_medium(&mut self) -> io::Result<()> {
        self.calls.lock().unwrap().push("flush");
        if self.flush_fails { Err(rustix::io::Errno::IO.into()) } else { Ok(()) }
    }

    fn cut_to(&mut self, bytes: u64) -> io::Result<()> {
        self.calls.lock().unwrap().push("cut");
        if self.cut_fails {
            return Err(rustix::io::Errno::IO.into());
        }
        self.bytes.lock().unwrap().truncate(usize::try_from(bytes).unwrap());
        Ok(())
    }
}

fn line(seq: u64) -> Emission {
    Emission::Entry(Entry { seq, at_ms: seq, fact: Fact::LimitHit { limit: LimitKind::Turns } })
}

fn appender(disk: &Disk) -> Appender<Disk> {
    let mut appender = Appender::new(disk.clone(), PathBuf::from("run.prob"), 0, EntryOrder::default());
    appender.begin().unwrap();
    appender
}

fn frames(disk: &Disk) -> usize {
    let bytes = disk.bytes.lock().unwrap();
    let frames: Result<Vec<_>, _> = FrameReader::new(&bytes).collect();
    frames.unwrap().len()
}

#[test]
fn a_batch_is_one_write_and_one_flush_where_it_must_last() {
    let disk = Disk { room: 10_000, ..Disk::default() };
    let mut journal = appender(&disk);
    journal.append(&[line(0), line(1)], Durability::Handed).unwrap();
    journal.append(&[line(2)], Durability::Durable).unwrap();
    assert_eq!(*disk.calls.lock().unwrap(), ["write", "write", "write", "flush"]);
    assert_eq!(frames(&disk), 3);
}

#[test]
fn a_full_disk_leaves_whole_batches_and_a_journal_that_takes_no_more() {
    let mut counts = Vec::new();
    for room in 16..400 {
        let disk = Disk { room, ..Disk::default() };
        let mut journal = appender(&disk);
        let failed = (0..4).find_map(|batch| {
            journal.append(&[line(batch * 2), line(batch * 2 + 1)], Durability::Handed).err()
        });
        counts.push(frames(&disk));
        assert_eq!(frames(&disk) % 2, 0, "room for {room}: half a batch stands");
        if let Some(error) = failed {
            assert!(error.to_string().starts_with("write the record `run.prob`: "), "{error}");
            assert!(error.to_string().contains("free some space"), "{error}");
            let again = journal.append(&[line(8)], Durability::Handed).unwrap_err().to_string();
            assert!(again.contains("an earlier write failed"), "{again}");
            assert_eq!(disk.calls.lock().unwrap().last(), Some(&"cut"), "nothing is tried after the cut");
        }
    }
    counts.dedup();
    assert_eq!(counts, [0, 2, 4], "the sizes above cover the first batches");
}

#[test]
fn a_failed_flush_is_never_tried_again() {
    let disk = Disk { room: 10_000, flush_fails: true, ..Disk::default() };
    let mut journal = appender(&disk);
    journal.append(&[line(0)], Durability::Handed).unwrap();
    let error = journal.append(&[line(1)], Durability::Durable).unwrap_err();
    assert!(error.to_string().contains("check the disk"), "{error}");
    assert!(journal.append(&[line(2)], Durability::Durable).is_err());
    assert_eq!(*disk.calls.lock().unwrap(), ["write", "write", "write", "flush", "cut"]);
    assert_eq!(frames(&disk), 1);
}

#[test]
fn a_torn_end_that_cannot_be_cut_is_said() {
    let disk = Disk { room: 30, cut_fails: true, ..Disk::default() };
    let error = appender(&disk).append(&[line(0)], Durability::Handed).unwrap_err();
    assert!(error.to_string().contains("will be cut when it is read"), "{error}");
    assert_eq!(disk.bytes.lock().unwrap().len(), 30);
}

#[test]
fn lines_out_of_order_or_too_long_are_not_written() {
    let long = "\u{1}".repeat(probity_trace::FRAME_BYTES_MAX / 6 + 1);
    let long = Emission::Part(Part { id: PartId::of(""), kept: probity_contract::Kept::Full(long.into()) });
    for bad in [line(3), line(1), long] {
        let disk = Disk { room: 10_000, ..Disk::default() };
        let mut journal = appender(&disk);
        journal.append(&[line(0)], Durability::Handed).unwrap();
        journal.append(&[line(1), bad], Durability::Handed).unwrap_err();
        assert_eq!(frames(&disk), 1, "nothing of the batch is written");
        journal.append(&[line(1)], Durability::Handed).unwrap_err();
    }
}

/// The system's own full device: a real `ENOSPC`, and a file that cannot be cut.
#[cfg(target_os = "linux")]
#[test]
fn a_really_full_device_is_an_error_with_the_next_step() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let error = FileJournal::begin(full, Path::new("run.prob")).unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
    assert!(error.to_string().contains("free some space and start the task again"), "{error}");
}
