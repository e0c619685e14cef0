// A command that waits for a thread, and a thread that never comes to an end.
import { Worker } from 'node:worker_threads';
import { listenForStop } from '../../.cache/modules/src/app/cli/stop-signals.js';

listenForStop(process.stderr);
const code = "require('node:worker_threads').parentPort.postMessage('busy'); for (;;);";
const worker = new Worker(code, { eval: true });
worker.on('message', (text) => process.stdout.write(`${text}\n`));
