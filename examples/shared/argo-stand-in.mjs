// What the migration example needs of Argo CD, for machines without its programs. It copies no content.
import { setTimeout as pause } from 'node:timers/promises';
import { argoPath } from './argo-installation.mjs';

const PACE_MS = 300;
const DECISIONS =
  '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/shop/placementdecisions';
const FINALIZER = 'resources-finalizer.argocd.argoproj.io';

/** Makes and deletes the Applications that `berth argocd render` says, each time a decision changes. */
export function standInForApplicationSetController(run, hub, { file, kubeconfig }) {
  let seen = '';
  repeat(run, async () => {
    const { body } = await hub.call('GET', DECISIONS);
    const decisions = JSON.stringify(body.items.map(({ status }) => status));
    if (decisions === seen) return;
    const text = await run.berthOutput('argocd', 'render', file, '--hub', '--kubeconfig', kubeconfig, '-o', 'json');
    const wanted = JSON.parse(text);
    const { body: live } = await hub.call('GET', argoPath('applications'));
    for (const { metadata } of live.items)
      if (!wanted.some((one) => one.metadata.name === metadata.name))
        await hub.delete(argoPath('applications', metadata.name));
    for (const one of wanted)
      if (!live.items.some(({ metadata }) => metadata.name === one.metadata.name))
        await hub.create(argoPath('applications'), one);
    seen = decisions;
  });
}

/** Says of each Application on the cluster that it is synced, and lets those go that are being deleted. */
export function standInForArgo(run, cluster) {
  repeat(run, async () => {
    const { body } = await cluster.call('GET', argoPath('applications'));
    for (const { metadata, status } of body.items) {
      const path = argoPath('applications', metadata.name);
      if (metadata.deletionTimestamp !== undefined) {
        const finalizers = (metadata.finalizers ?? []).filter((one) => !one.startsWith(FINALIZER));
        await cluster.patch(path, { metadata: { finalizers } });
      } else if (status?.sync?.status !== 'Synced') {
        const synced = { health: { status: 'Healthy' }, sync: { status: 'Synced', revision: 'main' } };
        await cluster.patch(path, { status: synced });
      }
    }
  });
}

function repeat(run, what) {
  void (async () => {
    while (!run.isEnding) {
      // What fails is tried again: the hub may be busy, or end at this moment.
      await what().catch(() => undefined);
      // fixed wait: the pace of a poll
      await pause(PACE_MS);
    }
  })();
}
