import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { errorText, InputError } from '@berth/runtime/errors';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';

export const simulateCommand: CliCommand = {
  register(program, run) {
    program
      .command('simulate')
      .description('schedule placements from JSON Lines: one case per line in, one line of results out')
      .argument('[file]', 'file to read instead of standard input; - means standard input', '-')
      .addHelpText(
        'after',
        `
A case is one JSON object: name, now (RFC 3339) and the arrays placements, clusters, clusterSets,
bindings, decisions, scores. A case without clusterSets has the sets default and global, as every hub
of OCM; "assumed" says so where it matters. Each line of output is the result of the input line with the same number:
  {"name": "…", "results": [one per placement: selected, scores, filters, conditions, …]}
For a line that is not a case, the result is {"name": null, "error": "line 7: …"}; the exit code is then 1.

Exit codes: 0 every case scheduled, 1 a line is not a case.

Examples:
  berth simulate < cases.jsonl
  berth simulate cases.jsonl | jq '.results[].selected'
`,
      )
      .action(run((io, file: string) => simulate(io, file)));
  },
};

async function simulate(io: CliIo, file: string): Promise<ExitCode> {
  const renderLine = await loadLineRenderer();
  const input = file === '-' ? io.stdin : await openFile(resolve(io.cwd, file));
  let exitCode: ExitCode = 0;
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    number++;
    if (line.trim() === '') continue;
    if (io.signal.aborted) return 1;
    const output = renderLine(line, number);
    if ('error' in output) exitCode = 1;
    // Waits for a slow reader, so that output does not accumulate in memory.
    if (!io.stdout.write(`${JSON.stringify(output)}\n`)) await once(io.stdout, 'drain');
  }
  return exitCode;
}

async function openFile(file: string): Promise<Readable> {
  const stream = createReadStream(file);
  try {
    await once(stream, 'ready');
  } catch (cause) {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      code: 'simulate.file',
      subject: file,
      cause,
    });
  }
  return stream;
}

type LineOutput =
  | {
      readonly name: string | null;
      readonly results: readonly object[];
      readonly assumed?: readonly string[];
    }
  | { readonly name: null; readonly error: string };

/** One bad line does not stop the others. The engine is loaded only when it is needed. */
async function loadLineRenderer(): Promise<(line: string, number: number) => LineOutput> {
  const { parseSimulationCase } = await import('../../../../controllers/explanations/simulation-case.ts');
  const { simulateSnapshot } = await import('@berth/placement/case/render-case');
  return (line, number) => {
    const read = parseSimulationCase(line);
    if (!read.ok) return { name: null, error: `line ${number}: ${read.error}` };
    try {
      const { name, snapshot, assumed } = read;
      const results = simulateSnapshot(snapshot);
      return assumed.length === 0 ? { name, results } : { name, results, assumed };
    } catch (error) {
      return { name: null, error: `line ${number}: ${errorText(error)}` };
    }
  };
}
