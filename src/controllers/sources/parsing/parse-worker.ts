import { parentPort } from 'node:worker_threads';
import { encodeParsedFile, type PackedFiles, packFiles, unpackFiles } from './parsed-record.ts';
import { readContent } from '../manifests/read-content.ts';

/**
 * Runs in a worker thread (see PoolWorker in parse-pool.ts): reports its start, then returns a packed record
 * (parsed-record.ts) for each packed file.
 */
parentPort?.on('message', (files: PackedFiles) => {
  const records = unpackFiles(files).map((bytes) => Buffer.from(encodeParsedFile(readContent('', bytes))));
  const packed = packFiles(records);
  parentPort?.postMessage(packed, [packed.bytes.buffer]);
});
parentPort?.postMessage('started');
