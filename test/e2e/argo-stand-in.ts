import { setTimeout as pause } from 'node:timers/promises';
import type { GuideShell } from './guide-shell.ts';

const PACE_MS = 300;

/** The kind Application, with the columns and the short name that Argo CD gives it. */
export const APPLICATION_KIND = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'applications.argoproj.io' },
  spec: {
    group: 'argoproj.io',
    scope: 'Namespaced',
    names: {
      plural: 'applications',
      singular: 'application',
      kind: 'Application',
      listKind: 'ApplicationList',
      shortNames: ['app', 'apps'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        additionalPrinterColumns: [
          { name: 'Sync Status', type: 'string', jsonPath: '.status.sync.status' },
          { name: 'Health Status', type: 'string', jsonPath: '.status.health.status' },
        ],
      },
    ],
  },
});

interface App {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status?: { readonly sync?: { readonly status?: string } };
}

/**
 * What a guide needs of Argo CD, by `kubectl`, for machines without its programs: on the hub the Applications of an ApplicationSet, as `berth
 * argocd render` says them; on the clusters somebody who says that each is synced. test/interop/pull has the programs themselves.
 */
export class ArgoStandIn {
  readonly #shell: GuideShell;
  readonly #set: string;
  readonly #clusters: readonly string[];
  #isOver = false;
  readonly #running: Promise<void>;

  /**
   * @param set file of the ApplicationSet, in the folder of the shell
   * @param clusters contexts
   */
  constructor(shell: GuideShell, set: string, clusters: readonly string[]) {
    this.#shell = shell;
    this.#set = set;
    this.#clusters = clusters;
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      // What fails is tried again: the hub may be busy.
      await this.#generate().catch(() => undefined);
      for (const cluster of this.#clusters) await this.#sync(cluster).catch(() => undefined);
      // fixed wait: the pace of a poll
      await pause(PACE_MS);
    }
  }

  async #generate(): Promise<void> {
    const rendered = await this.#shell.says(`berth argocd render ${this.#set} --hub --context hub -o json`);
    const wanted = (JSON.parse(rendered) as readonly App[]).map(({ metadata }) => metadata.name);
    const live = (await this.#apps('hub')).map(({ metadata }) => metadata.name);
    for (const name of live.filter((one) => !wanted.includes(one)))
      await this.#shell.says(`kubectl -n argocd delete app ${name} --context hub --wait=false`);
    if (wanted.some((name) => !live.includes(name)))
      await this.#shell.says(
        `berth argocd render ${this.#set} --hub --context hub -o yaml | kubectl --context hub apply -f -`,
      );
  }

  async #sync(cluster: string): Promise<void> {
    for (const { metadata, status } of await this.#apps(cluster)) {
      const patch = (change: object): Promise<string> =>
        this.#shell.says(
          `kubectl -n argocd --context ${cluster} patch app ${metadata.name} --type=merge -p '${JSON.stringify(change)}'`,
        );
      if (metadata.deletionTimestamp !== undefined) await patch({ metadata: { finalizers: null } });
      else if (status?.sync?.status !== 'Synced')
        await patch({ status: { health: { status: 'Healthy' }, sync: { status: 'Synced' } } });
    }
  }

  async #apps(context: string): Promise<readonly App[]> {
    const text = await this.#shell.says(`kubectl -n argocd get app --context ${context} -o json`);
    return (JSON.parse(text) as { readonly items: readonly App[] }).items;
  }
}
