import type { TreeLeaf } from './in-process-tree.ts';

/**
 * Parses a tree object: for each entry `mode name\0` and the bytes of the id. Bytes of a name that are not UTF-8 become U+FFFD.
 * @param idBytes length of an id: 20 for SHA-1, 32 for SHA-256
 * @returns undefined when the bytes are not a tree object
 */
export function parseTreeObject(bytes: Buffer, idBytes: number): readonly TreeLeaf[] | undefined {
  const leaves: TreeLeaf[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space === -1 || end === -1 || end + idBytes >= bytes.length) return undefined;
    const path = bytes.toString('utf8', space + 1, end);
    const mode = canonicalMode(bytes.toString('latin1', at, space));
    const oid = bytes.toString('hex', end + 1, end + 1 + idBytes);
    leaves.push({ path, mode, oid, type: typeOf(mode) });
    at = end + 1 + idBytes;
  }
  return leaves;
}

function typeOf(mode: string): TreeLeaf['type'] {
  if (mode === '040000') return 'tree';
  return mode === '160000' ? 'commit' : 'blob';
}

/** The mode as `git diff-tree` prints it. Old repositories contain other modes of files, such as 100664. */
function canonicalMode(mode: string): string {
  if (mode.startsWith('4')) return '040000';
  if (!mode.startsWith('100')) return mode;
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
}
