import { readFileSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import {
  APP_PROJECT,
  APPLICATION,
  clusterSecret,
  inArgo,
  installArgo,
  PROJECT,
  SECRET,
} from '../argocd/argo-installation.ts';
import { startArgoController } from '../peers/argocd-controller.ts';
import type { SharedHub } from '../peers/shared-hubs.ts';
import type { AgentKind, MemberAgent } from './member-agents.ts';

/** How the Argo CD of a member calls the member itself: it runs outside of the cluster. */
export const OWN_CLUSTER = 'local';

/** A managed cluster of its own with a real Argo CD and an agent. */
export class Member {
  readonly name: string;
  readonly api: KubeApi;
  readonly #startAgent: () => Promise<MemberAgent>;
  readonly #stop: () => Promise<void>;
  #agent: MemberAgent | undefined;

  private constructor(
    name: string,
    api: KubeApi,
    startAgent: () => Promise<MemberAgent>,
    stop: () => Promise<void>,
  ) {
    this.name = name;
    this.api = api;
    this.#startAgent = startAgent;
    this.#stop = stop;
  }

  /** @param dir a folder of the caller's for files and logs */
  static async start(name: string, hub: SharedHub, { startAgent }: AgentKind, dir: string): Promise<Member> {
    const cluster = await startEmbeddedHub();
    const kubeconfig = readFileSync(cluster.kubeconfig, 'utf8');
    const field = (key: RegExp): string => key.exec(kubeconfig)?.[1] ?? '';
    const config = {
      bearerToken: field(/token: (\S+)/),
      tlsClientConfig: { caData: field(/certificate-authority-data: (\S+)/) },
    };
    const { api } = cluster;
    await installArgo(api);
    await api.create(CONFIG_MAP, inArgo('v1', 'ConfigMap', 'argocd-rbac-cm'));
    const own = { server: field(/server: "(.*)"/), config: JSON.stringify(config) };
    await api.create(SECRET, clusterSecret(OWN_CLUSTER, own));
    await served(api);
    await api.create(APP_PROJECT, PROJECT);
    const folder = join(dir, name);
    mkdirSync(folder, { recursive: true });
    const argo = await startArgoController(folder, cluster.kubeconfig);
    const agent = (): Promise<MemberAgent> => startAgent({ name, hub, cluster, dir: folder });
    const member = new Member(name, api, agent, async () => {
      await argo.stop();
      await cluster.close();
    });
    await member.connect();
    return member;
  }

  /** The agent reaches the hub again. */
  async connect(): Promise<void> {
    this.#agent = await this.#startAgent();
  }

  /** The agent no longer reaches the hub; everything on the member goes on. */
  async cutOff(): Promise<void> {
    await this.#agent?.close();
    this.#agent = undefined;
  }

  /** What the source of the Application holds. */
  words(namespace = 'shop'): Promise<KubeObject | undefined> {
    return this.api.get(CONFIG_MAP, { namespace, name: 'words' });
  }

  /**
   * Its Argo CD looks at Git now, and not in three minutes. With a time, as Argo CD itself asks since 3.6: a request without one
   * would take away another that arrives while it is done.
   */
  async refresh(name: string): Promise<void> {
    const [type, time] = ['argocd.argoproj.io/refresh', 'argocd.argoproj.io/refresh-timestamp'];
    const metadata = { annotations: { [type]: 'hard', [time]: new Date().toISOString() } };
    await this.api.mergePatch(APPLICATION, { namespace: 'argocd', name }, { metadata });
  }

  application(name: string): Promise<KubeObject | undefined> {
    return this.api.get(APPLICATION, { namespace: 'argocd', name });
  }

  /**
   * When the first operation for a commit began, milliseconds since the epoch. The ApplicationSet controller may ask for one
   * operation twice.
   * @throws Error when none has begun
   */
  async startOf(name: string, revision: string): Promise<number> {
    const { history = [] } = ((await this.application(name))?.['status'] ?? {}) as {
      readonly history?: readonly { readonly revision: string; readonly deployStartedAt: string }[];
    };
    const starts = history.filter((entry) => entry.revision === revision);
    if (starts.length === 0) throw new Error(`no operation of ${name} for commit ${revision}`);
    return Math.min(...starts.map(({ deployStartedAt }) => Date.parse(deployStartedAt)));
  }

  async stop(): Promise<void> {
    await this.cutOff();
    await this.#stop();
  }
}

/** Resolves when the kinds of Argo CD can be listed. */
export async function served(api: KubeApi): Promise<void> {
  for (const kind of [APP_PROJECT, APPLICATION])
    while (
      !(await api.list(kind).then(
        () => true,
        () => false,
      ))
    );
}
