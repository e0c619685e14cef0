import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import { clusterDirectory, ClusterRegister } from '../cluster/cluster-register.ts';
import { isObject, objectAt, textAt } from '../json/json-value.ts';
import type { LogIdentity } from '../log/append-log.ts';
import { lockDirectory } from '../log/lock-file.ts';
import { type RecoveredObject, recoverState } from '../log/recovery.ts';
import { ObjectStore } from '../store/object-store.ts';
import { clustersIn, clusterTitle } from './data-layout.ts';

export interface CompactedCluster {
  readonly cluster: string;
  readonly resourceVersion: number;
  readonly objects: number;
}

/**
 * Replaces the logs of a stopped hub by snapshots. Two rounds, because a new snapshot replaces only
 * files before the previous snapshot.
 * @throws InputError when a hub is running on the directory (it compacts by itself)
 */
export async function compactData(dataDir: string, clock: Clock): Promise<readonly CompactedCluster[]> {
  const names = clustersIn(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    const register = ClusterRegister.read(dataDir).begin(names);
    const done: CompactedCluster[] = [];
    for (const name of names) {
      const store = await ObjectStore.open({
        directory: clusterDirectory(dataDir, name),
        identity: register.identityOf(name),
        clock,
        onFatal: (error) => {
          throw error;
        },
        onWarning: () => undefined,
      });
      await store.compact();
      await store.compact();
      done.push({ cluster: clusterTitle(name), resourceVersion: store.rv, objects: store.objectCount });
      await store.close();
    }
    register.complete(names);
    return done;
  } finally {
    lock.release();
  }
}

export interface ClusterCheck {
  readonly cluster: string;
  readonly resourceVersion: number;
  readonly objects: number;
  /**
   * Harmless: a torn tail that the next start truncates, an older snapshot that is used instead.
   */
  readonly warnings: readonly string[];
  /** The hub would not start, or an object does not match its key. */
  readonly problems: readonly string[];
}

/** Reads every file and changes nothing; the hub may be running. */
export async function checkData(dataDir: string): Promise<readonly ClusterCheck[]> {
  const checks: ClusterCheck[] = [];
  const names = clustersIn(dataDir);
  const register = ClusterRegister.read(dataDir);
  for (const name of names) checks.push(await checkCluster(dataDir, name, register.identityOf(name)));
  return checks;
}

async function checkCluster(
  dataDir: string,
  name: string,
  identity: Partial<LogIdentity>,
): Promise<ClusterCheck> {
  const cluster = clusterTitle(name);
  try {
    const state = await recoverState(clusterDirectory(dataDir, name), {
      repair: false,
      thorough: true,
      ...identity,
    });
    const problems = [...state.objects].flatMap((object) => objectProblems(object, state.rv));
    const { rv: resourceVersion, objectCount: objects, warnings } = state;
    return { cluster, resourceVersion, objects, warnings, problems };
  } catch (error) {
    return { cluster, resourceVersion: 0, objects: 0, warnings: [], problems: [errorText(error)] };
  }
}

function objectProblems(entry: RecoveredObject, newestRv: number): string[] {
  const path = [entry.storage, entry.namespace, entry.name].filter((part) => part !== '').join('/');
  const metadata = isObject(entry.object) ? objectAt(entry.object, 'metadata') : undefined;
  if (metadata === undefined) return [`${path}: is not an object with metadata`];
  const problems: string[] = [];
  if (textAt(metadata, 'name') !== entry.name)
    problems.push(
      `${path}: has metadata.name ${JSON.stringify(textAt(metadata, 'name'))}, which differs from its key`,
    );
  if (textAt(metadata, 'namespace') !== entry.namespace)
    problems.push(
      `${path}: has metadata.namespace ${JSON.stringify(textAt(metadata, 'namespace'))}, which differs from its key`,
    );
  if (textAt(metadata, 'resourceVersion') !== String(entry.rv) || entry.rv > newestRv)
    problems.push(
      `${path}: has resourceVersion ${textAt(metadata, 'resourceVersion')}, the log says ${String(entry.rv)}`,
    );
  return problems;
}
