//! Archives made by hand, so that they can be wrong.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// An archive of deflated files, which may lie about how long they are unpacked. Checksums are zero; nobody looks.
pub(crate) fn zip_of(files: &[(&str, &[u8])], says: Option<u32>) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (name, content) in files {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        let packed = encoder.finish().unwrap();
        let offset = u32::try_from(archive.len()).unwrap();
        let unpacked = says.unwrap_or(u32::try_from(content.len()).unwrap());
        let mut fields = Vec::new();
        // Version, flags, method, time, date, checksum, packed, unpacked, name, extra.
        for two in [20_u16, 0, 8, 0, 0] {
            fields.extend(two.to_le_bytes());
        }
        for four in [0, u32::try_from(packed.len()).unwrap(), unpacked] {
            fields.extend(four.to_le_bytes());
        }
        fields.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        fields.extend(0_u16.to_le_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(&fields);
        archive.extend(name.as_bytes());
        archive.extend(&packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        // Comment, disk, attributes of both kinds, place.
        directory.extend([0_u8; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let from = u32::try_from(archive.len()).unwrap();
    let count = u16::try_from(files.len()).unwrap();
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\x00\x00\x00\x00");
    archive.extend(count.to_le_bytes());
    archive.extend(count.to_le_bytes());
    archive.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    archive.extend(from.to_le_bytes());
    archive.extend([0, 0]);
    archive
}
