import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InputError } from '@berth/runtime/errors';
import type { CliIo, ExitCode } from '../../../../terminal/cli-io.ts';
import { renderRecordedCase, NOT_RENDERED } from './render-recorded-case.ts';

const GZIP_MAGIC = 0x1f8b;

/**
 * Renders recorded cases from JSON Lines, which may be gzipped, and writes one line of JSON for each to stdout, in
 * their order.
 * @returns 1 if a case is not rendered, otherwise 0
 * @throws InputError when the file or a line cannot be parsed
 */
export async function runCases(io: CliIo, file: string): Promise<ExitCode> {
  const full = path.resolve(io.cwd, file);
  let lineNumber = 0;
  let refused = 0;
  for await (const line of readLines(full, file)) {
    lineNumber += 1;
    if (line.trim() === '') continue;
    const output = renderLine(line, `${file}:${String(lineNumber)}`);
    if ('result' in output && 'reason' in output.result && output.result.reason === NOT_RENDERED)
      refused += 1;
    io.stdout.write(`${JSON.stringify(output)}\n`);
  }
  if (refused === 0) return 0;
  io.stderr.write(
    `${String(refused)} cases are not rendered: see the cases with the reason ${NOT_RENDERED}\n`,
  );
  return 1;
}

function renderLine(line: string, where: string): ReturnType<typeof renderRecordedCase> {
  try {
    return renderRecordedCase(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InputError(`the line is not a recorded case: ${error.message}`, {
      code: 'argocd.cases',
      subject: where,
      cause: error,
    });
  }
}

/** The lines of a file, which may be gzipped. */
async function* readLines(full: string, file: string): AsyncGenerator<string> {
  try {
    let rest = '';
    for await (const chunk of (await openText(full)) as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    yield rest;
  } catch (error) {
    throw new InputError('the file cannot be read', { code: 'argocd.cases', subject: file, cause: error });
  }
}

async function openText(full: string): Promise<Readable> {
  const isGzip = await isGzipped(full);
  const file = createReadStream(full);
  // Who reads the text gets the errors of both.
  const text = isGzip ? pipeline(file, createGunzip(), () => undefined) : file;
  return text.setEncoding('utf8');
}

async function isGzipped(full: string): Promise<boolean> {
  const handle = await open(full);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE(0) === GZIP_MAGIC;
  } finally {
    await handle.close();
  }
}
