import type { Clock } from '@berth/runtime/clock/clock';
import { lockDirectory } from '../log/lock-file.ts';
import { clusterDirectory } from '../cluster/cluster-directory.ts';
import { ClusterRegister } from '../cluster/cluster-register.ts';
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
