#!/usr/bin/env node
import type { CliIo } from './cli-io.ts';
import { runCli } from './program.ts';

const stop = new AbortController();
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The second Ctrl-C means it: leave at once with the signal's usual code.
    if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143);
    stopping = true;
    stop.abort();
  });
}

const io: CliIo = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  colour: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
  signal: stop.signal,
};

// A reader that went away (`berth … | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), io);
