import type { WriteStream } from 'node:fs';
import { createWriteStream, fchmodSync, fstatSync, openSync, renameSync } from 'node:fs';

const ROTATE_BYTES = 64 * 1024 * 1024;
/** Maximum size of lines that are not written yet; further lines are dropped and counted. */
const BACKLOG_BYTES = 16 * 1024 * 1024;
const OWNER_ONLY = 0o600;

/**
 * Lines appended to a file that only its owner can read; at 64 MiB the file is renamed to `.1`, so
 * that two files exist at most.
 */
export class RotatingFile {
  readonly #path: string;
  #stream: WriteStream;
  #bytes: number;
  #dropped = 0;

  /** @throws Error when the file cannot be opened */
  constructor(path: string) {
    this.#path = path;
    const { stream, bytes } = openLines(path);
    this.#stream = stream;
    this.#bytes = bytes;
  }

  /** @param render makes the line, given how many were dropped before it because the disk was too slow */
  append(render: (dropped: number) => string): void {
    if (this.#stream.writableLength > BACKLOG_BYTES) {
      this.#dropped += 1;
      return;
    }
    const line = render(this.#dropped);
    this.#dropped = 0;
    this.#stream.write(line);
    this.#bytes += Buffer.byteLength(line);
    if (this.#bytes >= ROTATE_BYTES) this.#rotate();
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#stream.end(() => resolve()));
  }

  #rotate(): void {
    try {
      renameSync(this.#path, `${this.#path}.1`);
      const next = openLines(this.#path);
      this.#stream.end();
      this.#stream = next.stream;
      this.#bytes = next.bytes;
    } catch {
      // Later lines still go to the open file; the next one tries again.
    }
  }
}

function openLines(path: string): { readonly stream: WriteStream; readonly bytes: number } {
  // Opened immediately: a stream opens its path later, when the file may have been renamed already.
  const fd = openSync(path, 'a', OWNER_ONLY);
  // An existing file may be readable by others.
  fchmodSync(fd, OWNER_ONLY);
  const stream = createWriteStream(path, { fd });
  // A full disk must not stop the hub because of its audit log; the journal reports it.
  stream.on('error', () => undefined);
  return { stream, bytes: fstatSync(fd).size };
}
