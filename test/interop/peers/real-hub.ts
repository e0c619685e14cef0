import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { serveController } from '../../../src/app/serve/serve-controller.ts';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import type { ControllerEvent } from '../../../src/controllers/events/controller-events.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { freePort } from './free-port.ts';
import { type PeerProcess, startPeer } from './peer-process.ts';

const POLL_MS = 100;
/** OCM's controllers look for their lease and their events here, also without leader election. */
const OCM_NAMESPACE = 'open-cluster-management-hub';

/** A real kube-apiserver with OCM's definitions, on which OCM's own programs and Berth can run. */
export class RealHub {
  readonly plane: ControlPlane;
  readonly api: HttpKubeApi;
  readonly #dir = mkdtempSync(join(tmpdir(), 'berth-real-hub-'));
  readonly #started: { stop(): Promise<void> }[] = [];

  private constructor(plane: ControlPlane) {
    this.plane = plane;
    const config = loadKubeConfig({ file: plane.kubeconfig });
    this.api = new HttpKubeApi({ config, clock: systemClock });
  }

  /** @param flags further flags of kube-apiserver */
  static async start(flags: readonly string[] = []): Promise<RealHub> {
    const hub = new RealHub(await startControlPlane(flags));
    for (const crd of ocmCrds())
      await hub.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    for (const crd of ocmCrds()) await hub.until(() => hub.#isServed(crd));
    await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: OCM_NAMESPACE } });
    return hub;
  }

  async close(): Promise<void> {
    for (const one of this.#started.splice(0).reverse()) await one.stop();
    this.api.close();
    await this.plane.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /**
   * A raw request that must be accepted.
   * @throws Error with the answer when it is not
   */
  async call(method: string, path: string, body?: unknown, contentType?: string): Promise<KubeObject> {
    const answer = await this.plane.client.call(method, path, body, contentType);
    if (answer.status < 400) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** Makes the objects as a person does, without Berth's field manager. Plurals are those of OCM and of core. */
  async create(...objects: readonly object[]): Promise<void> {
    for (const object of objects) {
      const one = object as KubeObject;
      await this.call('POST', collectionOf(one), one);
    }
  }

  /**
   * One of OCM's controllers, e.g. `ocm/placement`.
   * @param args after `controller` or `manager`
   */
  async ocm(program: 'ocm/placement' | 'ocm/work', args: readonly string[] = []): Promise<PeerProcess> {
    const peer = startPeer(program, {
      args: [
        program === 'ocm/work' ? 'manager' : 'controller',
        `--kubeconfig=${this.plane.kubeconfig}`,
        `--namespace=${OCM_NAMESPACE}`,
        '--disable-leader-election',
        `--listen=127.0.0.1:${await freePort()}`,
        ...args,
      ],
      logFile: join(this.#dir, `${program.replace('/', '-')}.log`),
      env: { POD_NAME: 'test', POD_NAMESPACE: OCM_NAMESPACE },
    });
    this.#started.push(peer);
    return peer;
  }

  /** The garbage collector of Kubernetes. */
  async collectGarbage(): Promise<void> {
    const args = ['--controllers=garbagecollector', '--leader-elect=false', '--secure-port=0'];
    const collector = startPeer('kube-controller-manager', {
      args: [`--kubeconfig=${this.plane.kubeconfig}`, ...args],
      logFile: join(this.#dir, 'kube-controller-manager.log'),
    });
    this.#started.push(collector);
    // It works when it deletes what has lost its owner.
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'gone' };
    const metadata = { name: 'garbage', namespace: 'default', ownerReferences: [owner] };
    await this.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const path = '/api/v1/namespaces/default/configmaps/garbage';
    await collector.until(async () => (await this.plane.client.call('GET', path)).status === 404);
  }

  /** Berth, in this process; its events arrive in `events`. */
  async serve(
    over: Partial<ServeOptions> = {},
  ): Promise<{ readonly events: ControllerEvent[]; close(): Promise<void> }> {
    const controller = await serveController({
      api: this.api,
      sources: [],
      dataDir: mkdtempSync(join(this.#dir, 'data-')),
      clock: systemClock,
      log: new SilentLogger(),
      random: Math.random,
      engineVersion: 'test',
      env: process.env,
      pollIntervalMs: 500,
      ...over,
    });
    const events: ControllerEvent[] = [];
    const reading = (async () => {
      for await (const event of controller.events) events.push(event);
    })();
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => (closed ??= controller.close().then(() => reading));
    this.#started.push({ stop: close });
    return { events, close };
  }

  readonly until = async (
    what: () => boolean | Promise<boolean>,
    patienceMs = PATIENCE_MS,
  ): Promise<void> => {
    const deadline = Date.now() + patienceMs;
    while (!(await what())) {
      if (Date.now() > deadline) throw new Error(`not reached: ${String(what)}`);
      // fixed wait: the pace of a poll
      await pause(POLL_MS);
    }
  };

  async #isServed(crd: unknown): Promise<boolean> {
    const { spec } = crd as {
      spec: { group: string; names: { plural: string }; versions: { name: string }[] };
    };
    for (const { name } of spec.versions) {
      const path = `/apis/${spec.group}/${name}/${spec.names.plural}`;
      if ((await this.plane.client.call('GET', path)).status !== 200) return false;
    }
    return true;
  }
}

/** The path that objects of this kind are created at. */
export function collectionOf({ apiVersion, kind, metadata: { namespace } }: KubeObject): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const inside = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${root}${inside}/${kind.toLowerCase()}s`;
}
