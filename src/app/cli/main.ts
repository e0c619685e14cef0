#!/usr/bin/env node
import type { CliIo } from '../terminal/cli-io.ts';
import { runCli } from './program.ts';
import { listenForStop } from './stop-signals.ts';

const { stop, cutOff, stopLater } = listenForStop(process.stderr);

const io: CliIo = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  colour: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
  signal: stop,
  cutOff,
  stopLater,
};

// A reader that closed the pipe (`berth … | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), io);
