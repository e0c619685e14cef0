import { sha256 } from '@berth/runtime/sha256';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { InputError, TransientError } from '@berth/runtime/errors';
import { writePrivateFile } from '../auth/files/private-file.ts';
import { snapshotPath } from '../log/data-files.ts';
import type { LogIdentity } from '../log/append-log.ts';
import { directoryInUse } from '../log/lock-file.ts';
import { listedFile, writeManifest } from '../log/manifest.ts';
import { type RecoveredState, recoverState } from '../log/recovery.ts';
import { writeSnapshot } from '../log/snapshot-file.ts';
import { clusterDirectory, ClusterRegister } from '../cluster/cluster-register.ts';
import { clustersIn, SECRET_FILES } from './data-layout.ts';

const FORMAT = 'berth-hub-backup/1';
const gzipAsync = promisify(gzip);
const gunzipAsync = promisify(gunzip);

/**
 * Clients may have seen versions that are not in the backup. A restored hub continues with versions
 * far above those of the lost hub, so that no version is used twice and every watch starts again.
 */
const VERSION_LEAP = 1_000_000_000;

interface BackupObject {
  readonly storage: string;
  readonly namespace: string;
  readonly name: string;
  readonly rv: number;
  readonly object: unknown;
}

interface BackupContent {
  readonly format: string;
  readonly createdAt: string;
  readonly files: Readonly<Record<string, string>>;
  readonly clusters: readonly {
    readonly name: string;
    readonly rv: number;
    readonly objects: readonly BackupObject[];
  }[];
}

export interface BackupSummary {
  readonly clusters: readonly {
    readonly name: string;
    readonly resourceVersion: number;
    readonly objects: number;
  }[];
}

/**
 * Writes all data to one file (mode 0600, because it contains keys); the hub may be running.
 * @throws InputError on damaged data
 */
export async function backupData(dataDir: string, file: string, nowMs: number): Promise<BackupSummary> {
  const clusters = [];
  const names = clustersIn(dataDir);
  const register = ClusterRegister.read(dataDir);
  for (const name of names) {
    const state = await readWhileRunning(clusterDirectory(dataDir, name), register.identityOf(name));
    clusters.push({ name, rv: state.rv, objects: [...state.objects].map(toBackupObject) });
  }
  const present = SECRET_FILES.filter((path) => existsSync(join(dataDir, path)));
  const files = Object.fromEntries(present.map((path) => [path, readFileSync(join(dataDir, path), 'utf8')]));
  const content: BackupContent = {
    format: FORMAT,
    createdAt: new Date(nowMs).toISOString(),
    files,
    clusters,
  };
  const json = JSON.stringify(content);
  const seal = sha256(json);
  writePrivateFile(file, await gzipAsync(`${seal}\n${json}`));
  return summaryOf(content);
}

/** Retries, because a compaction may delete a file between listing and reading. */
async function readWhileRunning(directory: string, identity: Partial<LogIdentity>): Promise<RecoveredState> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return await recoverState(directory, { repair: false, ...identity });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new TransientError('changed while it was read, five times in a row', {
    code: 'hub.data-busy',
    subject: directory,
  });
}

function toBackupObject({ storage, namespace, name, rv, object }: BackupObject): BackupObject {
  return { storage, namespace, name, rv, object };
}

/**
 * Fills a new data directory from a backup.
 * @throws InputError when it is not empty or the backup is damaged
 */
export async function restoreData(file: string, dataDir: string, nowMs: number): Promise<BackupSummary> {
  const content = await readBackup(file);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (directoryInUse(dataDir) || readdirSync(dataDir).length > 0)
    throw new InputError('is not empty', {
      code: 'hub.restore-target',
      subject: `data directory ${dataDir}`,
      hint: 'Restore into a new directory, then start `berth hub` with it.',
    });
  const names = content.clusters.map(({ name }) => name);
  const register = ClusterRegister.read(dataDir).begin(names);
  for (const cluster of content.clusters) {
    const directory = clusterDirectory(dataDir, cluster.name);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const rv = cluster.rv + VERSION_LEAP;
    const objects = cluster.objects.map((entry) => ({ ...entry, json: () => JSON.stringify(entry.object) }));
    const { log = '' } = register.identityOf(cluster.name);
    const path = snapshotPath(directory, rv);
    const written = await writeSnapshot(path, { rv, timeMs: nowMs, log, objects });
    const snapshots = [listedFile(path, rv, written)];
    await writeManifest(directory, { format: 1, log, segments: [], snapshots });
  }
  register.complete(names);
  // Written last, because a directory is a hub's data directory only if it has the authority.
  for (const path of SECRET_FILES) {
    const text = content.files[path];
    if (text === undefined) continue;
    mkdirSync(dirname(join(dataDir, path)), { recursive: true, mode: 0o700 });
    writePrivateFile(join(dataDir, path), text);
  }
  return summaryOf(content);
}

async function readBackup(file: string): Promise<BackupContent> {
  const damaged = (why: string, cause?: unknown): InputError =>
    new InputError(why, {
      code: 'hub.backup-damaged',
      subject: file,
      hint: 'Take another backup file.',
      cause,
    });
  let text: string;
  try {
    text = (await gunzipAsync(await readFile(file))).toString('utf8');
  } catch (error) {
    throw damaged('cannot be read as a backup of berth hub', error);
  }
  const end = text.indexOf('\n');
  const json = text.slice(end + 1);
  if (text.slice(0, end) !== sha256(json)) throw damaged('is damaged: its checksum does not match');
  const content = JSON.parse(json) as BackupContent;
  if (content.format !== FORMAT)
    throw damaged(`has the format ${String(content.format)}, expected ${FORMAT}`);
  return content;
}

function summaryOf(content: BackupContent): BackupSummary {
  return {
    clusters: content.clusters.map(({ name, rv, objects }) => ({
      name,
      resourceVersion: rv,
      objects: objects.length,
    })),
  };
}
