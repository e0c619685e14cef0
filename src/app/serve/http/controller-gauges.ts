import type { HubInventory } from '../../../controllers/inventory/hub-inventory.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';

/** Adds the gauges of `/metrics` that are read from the controller at each scrape. */
export function addControllerGauges({
  metrics,
  inventory,
  publishedPlacements,
  decider,
  loops,
  leadership,
  pull,
  waves,
}: ControllerHttpOptions): void {
  addPullGauges({ metrics, pull });
  addWaveGauge({ metrics, waves });
  metrics.gauge('berth_leader', '1 while this process may write to the hub', () => Number(leadership.isHeld));
  metrics.gaugePerLabels(
    'berth_lease_holder',
    'The process that holds the Lease, as this one last saw it; the value is always 1',
    ['lease', 'holder'],
    () => {
      const { lease = '', holder = '' } = leadership.status() ?? {};
      return holder === '' ? [] : [{ labels: { lease, holder }, value: 1 }];
    },
  );
  const perKind = (value: (reflector: HubInventory['clusters']) => number) => () =>
    new Map(inventory.reflectors.map((reflector) => [reflector.kind.kind, value(reflector)]));
  metrics.gaugePerKind(
    'berth_inventory_staleness_seconds',
    'Time since the hub last confirmed a kind; -1 before the first list',
    perKind((r) => r.stalenessMs() / 1000),
  );
  metrics.gaugePerKind(
    'berth_inventory_objects',
    'Objects in the cache',
    perKind((r) => r.store.size),
  );
  metrics.gaugePerKind(
    'berth_inventory_lists',
    'Complete lists read since the start',
    perKind((r) => r.relists),
  );
  metrics.gaugePerLabels(
    'berth_source_unlisted_kinds',
    'Kinds of a source that could not be listed on the hub: nothing of them is applied or deleted',
    ['source', 'resource', 'reason'],
    () =>
      loops
        .map((loop) => loop.status())
        .flatMap(({ name: source, outcome }) =>
          (outcome?.unlisted ?? []).map(({ resource, error }) => ({
            labels: { source, resource, reason: error.code },
            value: 1,
          })),
        ),
  );
  metrics.gauge(
    'berth_published_placements',
    'Placements with a published decision',
    () => publishedPlacements.list().length,
  );
  metrics.gauge('berth_publish_queue_depth', 'Placements waiting to be published', () => decider.queue.depth);
  metrics.gauge(
    'berth_publish_queue_retrying',
    'Placements waiting for a retry',
    () => decider.queue.delayed,
  );
}

function addWaveGauge({ metrics, waves }: Pick<ControllerHttpOptions, 'metrics' | 'waves'>): void {
  metrics.gaugePerLabels(
    'berth_argocd_waves_held_clusters',
    'Clusters that wait until an earlier wave of their ApplicationSet is healthy and has soaked',
    ['application_set', 'placement', 'waits_for', 'reason'],
    () =>
      (waves?.held() ?? []).map(({ applicationSet, placement, waitsFor, reason, clusters }) => ({
        labels: { application_set: applicationSet, placement, waits_for: `w${waitsFor}`, reason },
        value: clusters.length,
      })),
  );
}

function addPullGauges({ metrics, pull }: Pick<ControllerHttpOptions, 'metrics' | 'pull'>): void {
  const pulled = [
    ['berth_pull_works', 'ManifestWorks that carry Applications of Argo CD', 'works'],
    ['berth_pull_groups_held', 'ApplicationSets and namespaces whose removals are held', 'held'],
    [
      'berth_pull_removals_unconfirmed',
      'Deleted works of Applications whose removal the clusters have not confirmed',
      'unconfirmed',
    ],
  ] as const;
  for (const [name, help, figure] of pulled) metrics.gauge(name, help, () => pull?.figures()[figure] ?? 0);
}
