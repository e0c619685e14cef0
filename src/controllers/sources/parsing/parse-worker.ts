import { parentPort } from 'node:worker_threads';
import { packFiles, unpackFiles } from './packed-files.ts';
import type { PackedFiles } from './packed-files.ts';
import { encodeParsedFile } from './parsed-record.ts';
import { readContent } from '../manifests/read-content.ts';

/** Runs in a worker thread (pool-worker.ts): says that it has started; then packed files in, as many packed records (parsed-record.ts) out. */
parentPort?.on('message', (files: PackedFiles) => {
  const records = unpackFiles(files).map((bytes) => Buffer.from(encodeParsedFile(readContent('', bytes))));
  const packed = packFiles(records);
  parentPort?.postMessage(packed, [packed.bytes.buffer]);
});
parentPort?.postMessage('started');
