import { HOSTING_SET_KEY } from '../../../core/argocd/pull/pull-keys.ts';
import { renderSetReport } from '../../../core/argocd/pull/render-set-report.ts';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { APPLICATION_SET_REPORT } from '../../../core/argocd/argocd-kinds.ts';
import { apiVersionOf } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { PullInventory } from './pull-inventory.ts';
import { PULL_FIELD_MANAGER } from './pull-options.ts';

export interface SetReportsOptions {
  readonly hub: KubeApi;
  readonly clock: Clock;
  readonly inventory: PullInventory;
}

/** After this time Berth checks again whether the hub serves the kind. */
const RECHECK_MS = 300_000;

/** Writes a MulticlusterApplicationSetReport for each ApplicationSet with pulled Applications, if the hub serves the kind. */
export class SetReports {
  readonly #options: SetReportsOptions;
  /** The content of each report; read from the hub once. */
  readonly #written = new Map<string, KubeObject | undefined>();
  #served: { readonly atMs: number; readonly isServed: Promise<boolean> } | undefined;

  constructor(options: SetReportsOptions) {
    this.#options = options;
  }

  /** @param set `namespace/name` of the ApplicationSet */
  async reconcile(set: string): Promise<ReconcileOutcome> {
    const { hub, inventory } = this.#options;
    if (!(await this.#isServed())) return DONE;
    const [namespace = '', name = ''] = set.split('/');
    const key = { namespace, name };
    if (!this.#written.has(set)) this.#written.set(set, await hub.get(APPLICATION_SET_REPORT, key));
    const before = this.#written.get(set);
    const works = inventory.worksOfGroup(`ApplicationSet ${set}`);
    if (works.length === 0) {
      // A report without the label belongs to another writer.
      if (before?.metadata.labels?.[HOSTING_SET_KEY] !== undefined)
        await hub.delete(APPLICATION_SET_REPORT, key, { uid: before.metadata.uid });
      this.#written.delete(set);
      return DONE;
    }
    const report = renderSetReport(set, works);
    if (isSame(before, report)) return DONE;
    const options = { ...PULL_FIELD_MANAGER, force: true };
    this.#written.set(set, await hub.apply(APPLICATION_SET_REPORT, report, options));
    return DONE;
  }

  async #isServed(): Promise<boolean> {
    const { hub, clock } = this.#options;
    if (this.#served === undefined || clock.now() - this.#served.atMs > RECHECK_MS) {
      const { kind } = APPLICATION_SET_REPORT;
      const isServed = hub
        .resolve(apiVersionOf(APPLICATION_SET_REPORT), kind)
        .then((found) => found !== undefined);
      this.#served = { atMs: clock.now(), isServed };
      isServed.catch(() => (this.#served = undefined));
    }
    return this.#served.isServed;
  }
}

function isSame(before: KubeObject | undefined, report: KubeObject): boolean {
  const label = before?.metadata.labels?.[HOSTING_SET_KEY];
  return (
    label === report.metadata.labels?.[HOSTING_SET_KEY] && jsonEqual(before?.['statuses'], report['statuses'])
  );
}
