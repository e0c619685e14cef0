import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions, ObjectKey, ObjectList } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { ReadOnlyKubeApi } from '@berth/kube/dry-run-kube-api';
import { BugError } from '@berth/runtime/errors';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { HubTrials, Trial, TriedObject } from '../held/hub-trials.ts';
import type { ApplicationContext } from '../plan-applications.ts';
import type { PlanRevisionsInput } from '../plan-revisions.ts';
import { type SentObjects, packSnapshot, type SentSnapshot } from './numbered-objects.ts';
import type { HubRead } from './plan-messages.ts';

/** The input of a plan, without the parts that cannot be sent to another process. */
export interface PlanJob {
  readonly type: 'plan';
  readonly input: Omit<
    PlanRevisionsInput,
    'applications' | 'budgetOf' | 'headsOf' | 'hub' | 'hubApi' | 'memory' | 'onProgress' | 'trials'
  >;
  readonly hub: SentSnapshot | undefined;
  readonly applications: Omit<ApplicationContext, 'inputsOf'> | undefined;
  /** The budgets of the placements on the hub, by `namespace/name`. */
  readonly budgets: ReadonlyMap<string, RemovalBudget>;
  /** The address of the hub; undefined without one. */
  readonly server: string | undefined;
  /** Whether the hub may be asked what it would hold. */
  readonly mayTry: boolean;
}

/** @param sent the objects that the other process has */
export function jobOf(
  full: PlanRevisionsInput,
  ambient: PlanRevisionsInput['ambient'],
  sent: SentObjects,
): PlanJob {
  const { applications, budgetOf, headsOf: _headsOf, hub, hubApi, trials, ...rest } = full;
  const { memory: _memory, onProgress: _onProgress, ...input } = rest;
  const { inputsOf: _inputsOf, ...context } = applications ?? {};
  return {
    type: 'plan',
    input: { ...input, ambient },
    hub: hub && packSnapshot(hub, sent),
    applications: applications && (context as PlanJob['applications']),
    budgets: new Map(
      (hub?.placements ?? []).flatMap((placement) => {
        const budget = budgetOf?.(placement);
        return budget === undefined ? [] : [[namespacedName(placement.metadata), budget] as const];
      }),
    ),
    server: hubApi?.server,
    mayTry: trials !== undefined,
  };
}

/** Asks the hub from a process without access to it: the parent process asks for it. */
export class ParentTrials implements HubTrials {
  readonly #ask: (request: HubRead) => Promise<unknown>;

  constructor(ask: (request: HubRead) => Promise<unknown>) {
    this.#ask = ask;
  }

  async apply(tried: TriedObject): Promise<Trial> {
    return (await this.#ask({ method: 'try-apply', tried })) as Trial;
  }

  async delete(object: KubeObject): Promise<Trial> {
    return (await this.#ask({ method: 'try-delete', object })) as Trial;
  }
}

/** The hub in a process without access to it: the parent process reads for it. */
export class ParentKubeApi extends ReadOnlyKubeApi implements KubeApi {
  readonly server: string;
  readonly #read: (request: HubRead) => Promise<unknown>;

  constructor(server: string, read: (request: HubRead) => Promise<unknown>) {
    super();
    this.server = server;
    this.#read = read;
  }

  async get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    return (await this.#read({ method: 'get', kind, key })) as KubeObject | undefined;
  }

  async list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    return (await this.#read({ method: 'list', kind, options })) as ObjectList;
  }

  async resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return (await this.#read({ method: 'resolve', apiVersion, kind })) as KindInfo | undefined;
  }

  watch(): never {
    throw this.refused();
  }

  protected refused(): BugError {
    return new BugError('a plan only reads', { code: 'plan.read-only', subject: 'Hub' });
  }
}
