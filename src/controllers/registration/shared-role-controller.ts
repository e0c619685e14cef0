import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { sharedRoles } from '../../core/registration/acceptance/cluster-objects.ts';
import { sameRights } from '../../core/registration/acceptance/same-rights.ts';
import { REGISTRATION_MANAGER } from '@berth/ocm/registration/names';
import type { ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { CachedController } from './cached-controller.ts';

const ALL = 'all';
/** The two roles do not carry the label of a cluster, so they are not watched. */
const RECHECK_MS = 60_000;

/** The ClusterRoles that all clusters share. They exist as long as there is a ManagedCluster. */
export class SharedRoleController extends CachedController {
  readonly name = 'shared roles';
  readonly #clusters = this.read(MANAGED_CLUSTER);

  follow(queue: WorkQueue): void {
    queue.add(ALL);
    this.#clusters.store.onChange(({ before, after }) => {
      if (before === undefined || after === undefined) queue.add(ALL);
    });
  }

  async reconcile(): Promise<ReconcileOutcome> {
    const { hub } = this.options;
    // Before the roles are deleted, the hub itself is asked, because every agent needs them.
    const isNeeded = this.#clusters.store.size > 0 || (await hub.list(MANAGED_CLUSTER)).items.length > 0;
    for (const { kind, object } of sharedRoles()) {
      const key = { namespace: '', name: object.metadata.name };
      const there = await hub.get(kind, key);
      const options = { fieldManager: REGISTRATION_MANAGER, metadataOnly: true };
      if (!isNeeded) {
        if (there !== undefined) await hub.delete(kind, key, { uid: there.metadata.uid });
      } else if (there === undefined) await hub.create(kind, object, options);
      else if (!sameRights(there, object)) {
        const { uid, resourceVersion } = there.metadata;
        const patch = { metadata: { uid, resourceVersion }, rules: object['rules'] };
        await hub.mergePatch(kind, key, patch, options);
      }
    }
    return { kind: 'requeue', afterMs: RECHECK_MS };
  }
}
