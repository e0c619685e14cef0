import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { InputError } from '../../../../../core/errors.ts';
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
  for await (const line of await openLines(full, file)) {
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

async function openLines(full: string, file: string): Promise<AsyncIterable<string>> {
  const unreadable = (error: unknown): InputError =>
    new InputError('the file cannot be read', { code: 'argocd.cases', subject: file, cause: error });
  const handle = await open(full).catch((error: unknown) => {
    throw unreadable(error);
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    const isGzip = bytesRead === 2 && buffer.readUInt16BE(0) === GZIP_MAGIC;
    const stream = createReadStream(full);
    const input = isGzip ? stream.pipe(createGunzip()) : stream;
    return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } finally {
    await handle.close();
  }
}
