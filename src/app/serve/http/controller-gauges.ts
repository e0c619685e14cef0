import type { Condition } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import type { HubInventory } from '../../../controllers/inventory/hub-inventory.ts';
import type { SourceStatus } from '../../../controllers/sources/following/followed-source.ts';
import { activeHold } from '../../../core/publish/approval/approval-code.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';

/** Adds the gauges of `/metrics` that are read from the controller at each scrape. */
export function addControllerGauges({
  metrics,
  inventory,
  publishedPlacements,
  decider,
  loops,
  leadership,
  shares,
  pull,
  waves,
  heldAddOns,
  options,
  hubProblem,
}: ControllerHttpOptions): void {
  addRemovalGauges({ metrics, pull, heldAddOns });
  addSourceGauges({ metrics, loops, options });
  addHoldGauges({ metrics, inventory, options });
  metrics.gauge('berth_hub_reachable', '1 while the hub can be read and written', () =>
    Number(hubProblem() === undefined),
  );
  addWaveGauge({ metrics, waves });
  metrics.gauge('berth_leader', '1 while this process may write to the hub', () => Number(leadership.isHeld));
  metrics.gauge(
    'berth_work_shares',
    'Shares of the namespaces whose works this process writes (--share-works)',
    () => shares()?.held.length ?? 0,
  );
  metrics.gaugePerLabels(
    'berth_lease_holder',
    'The process that has the Lease, as this one last saw it; the value is always 1',
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
  metrics.gauge(
    'berth_placements_unstable',
    'Placements whose decisions keep changing each other, so that the last ones are kept',
    () => decider.scheduling?.unstable.length ?? 0,
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

function addRemovalGauges({
  metrics,
  pull,
  heldAddOns,
}: Pick<ControllerHttpOptions, 'metrics' | 'pull' | 'heldAddOns'>): void {
  metrics.gauge(
    'berth_addons_held',
    'Add-ons whose removal from clusters is held',
    () => heldAddOns?.() ?? 0,
  );
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

type Scraped = Pick<ControllerHttpOptions, 'metrics' | 'options'>;

/** What is read from Git, and whether the hub follows it. */
function addSourceGauges({ metrics, loops, options }: Scraped & Pick<ControllerHttpOptions, 'loops'>): void {
  const perSource = (
    name: string,
    help: string,
    value: (status: SourceStatus, nowMs: number) => number,
  ): void =>
    metrics.gaugePerLabels(name, help, ['source'], () => {
      const nowMs = options.clock.now();
      const all = loops.flatMap((loop) => loop.status());
      return all.map((status) => ({ labels: { source: status.name }, value: value(status, nowMs) }));
    });
  const seconds = (sinceMs: number | undefined, nowMs: number): number =>
    sinceMs === undefined ? 0 : Math.max(0, nowMs - sinceMs) / 1000;
  perSource(
    'berth_source_failing_seconds',
    'Time since the source could no longer be read or applied; 0: the last attempt succeeded',
    ({ failingSinceMs }, nowMs) => seconds(failingSinceMs, nowMs),
  );
  perSource(
    'berth_source_unfollowed_seconds',
    'Time since a commit was read that the hub does not follow completely yet; 0: it follows',
    ({ unfollowedSinceMs }, nowMs) => seconds(unfollowedSinceMs, nowMs),
  );
  perSource(
    'berth_source_commit_age_seconds',
    'Time since the commit was made that is followed; 0: the source has no commit',
    ({ content }, nowMs) => seconds(content?.commit?.committer.timeMs, nowMs),
  );
  perSource(
    'berth_source_problems',
    'Problems of the source: files that cannot be read, objects that the hub refuses',
    ({ content, outcome }) => (content?.problems.length ?? 0) + (outcome?.problems.length ?? 0),
  );
  perSource(
    'berth_source_deletions_held',
    '1 while deletions of the source wait for a release',
    ({ outcome }) => Number(outcome?.pruneHeld !== undefined),
  );
  metrics.gaugePerLabels(
    'berth_source_unlisted_kinds',
    'Kinds of a source that could not be listed on the hub: nothing of them is applied or deleted',
    ['source', 'resource', 'reason'],
    () =>
      loops
        .flatMap((loop) => loop.status())
        .flatMap(({ name: source, outcome }) =>
          (outcome?.unlisted ?? []).map(({ resource, error }) => ({
            labels: { source, resource, reason: error.code },
            value: 1,
          })),
        ),
  );
}

/** What the hub shows of holds and clusters. */
function addHoldGauges({
  metrics,
  inventory,
  options,
}: Scraped & Pick<ControllerHttpOptions, 'inventory'>): void {
  const holds = (): readonly Condition[] =>
    // If OCM decides, a hold is left over from when Berth did.
    options.schedule === 'upstream'
      ? []
      : inventory.placements.store
          .list()
          .flatMap((placement) => activeHold(placement as unknown as Placement) ?? []);
  metrics.gaugePerLabels(
    'berth_placements_held',
    'Placements whose change is held, by reason',
    ['reason'],
    () =>
      counted(holds().map(({ reason }) => reason)).map(([reason, value]) => ({ labels: { reason }, value })),
  );
  metrics.gauge(
    'berth_oldest_hold_seconds',
    'Time since the oldest hold of a placement began; 0: none',
    () => {
      const since = holds().map(
        ({ lastTransitionTime }) => Date.parse(lastTransitionTime ?? '') || options.clock.now(),
      );
      return since.length === 0 ? 0 : Math.max(0, options.clock.now() - Math.min(...since)) / 1000;
    },
  );
  metrics.gaugePerLabels(
    'berth_clusters',
    'ManagedClusters by whether their agents report them as available: True, False; Unknown: silent; none: not yet',
    ['available'],
    () =>
      counted(
        inventory.clusters.store.list().map(({ status }) => {
          const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
          return conditions.find(({ type }) => type === AVAILABLE)?.status ?? 'none';
        }),
      ).map(([available, value]) => ({ labels: { available }, value })),
  );
}

function counted(texts: readonly string[]): readonly (readonly [text: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts];
}
