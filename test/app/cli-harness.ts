import { PassThrough, Readable } from 'node:stream';
import type { CliIo } from '../../src/app/terminal/cli-io.ts';

/** A CliIo whose output can be read back; everything not given is empty, silent, colourless. */
export function makeCliIo(over: Partial<CliIo> = {}): {
  io: CliIo;
  stdout: () => string;
  stderr: () => string;
} {
  const out = capture();
  const err = capture();
  const io: CliIo = {
    stdin: Readable.from([]),
    stdout: out.stream,
    stderr: err.stream,
    env: {},
    cwd: process.cwd(),
    colour: false,
    signal: new AbortController().signal,
    cutOff: new AbortController().signal,
    ...over,
  };
  return { io, stdout: out.text, stderr: err.text };
}

function capture(): { stream: PassThrough; text: () => string } {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
