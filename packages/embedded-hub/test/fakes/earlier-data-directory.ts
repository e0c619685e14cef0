import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '../../src/log/log-record.ts';
import { decodeRecord, encodeRecord } from '../../src/log/log-record.ts';

/**
 * Turns the data of a stopped hub into what a version without manifests left behind.
 * @param clusters their directories
 */
export function makeEarlierDataDirectory(dataDir: string, clusters: readonly string[] = ['hub']): void {
  rmSync(join(dataDir, 'clusters.json'));
  for (const cluster of clusters) {
    rmSync(join(dataDir, cluster, 'manifest.json'));
    for (const name of readdirSync(join(dataDir, cluster))) {
      const path = join(dataDir, cluster, name);
      const text = readFileSync(path, 'utf8');
      const end = text.indexOf('\n');
      const header = decodeRecord(Buffer.from(text.slice(0, end)));
      if (header !== undefined) writeFileSync(path, `${encodeRecord(earlier(header))}${text.slice(end + 1)}`);
    }
  }
}

function earlier(header: LogRecord): LogRecord {
  if (header.type === 'segment') return { type: 'segment', rv: header.rv, format: 1 };
  return header.type === 'snapshot' ? { ...header, log: undefined } : header;
}
