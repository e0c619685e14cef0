import type { KubeApi } from '@berth/kube/model/kube-api';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { CONTROL_PLANE_PROGRAMS } from './control-plane.ts';
import { RealHub } from './real-hub.ts';

/** A hub that Argo CD, agents and Berth use. */
export interface SharedHub {
  readonly api: KubeApi & { close(): void };
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Each kind of hub that Berth runs on. */
export interface HubKind {
  /** For the title of a test. */
  readonly name: string;
  /** What has to be built on this machine. */
  readonly programs: readonly string[];
  readonly start: () => Promise<SharedHub>;
}

export const HUB_KINDS: readonly HubKind[] = [
  { name: 'the embedded hub', programs: [], start: startEmbeddedHub },
  {
    name: 'a real hub',
    programs: ['kube-controller-manager', ...CONTROL_PLANE_PROGRAMS],
    start: startRealHub,
  },
];

/** A kube-apiserver with the garbage collector of Kubernetes: what belongs to a deleted object goes with it. */
export async function startRealHub(): Promise<SharedHub> {
  const hub = await RealHub.start();
  await hub.collectGarbage();
  return { api: hub.api, kubeconfig: hub.plane.kubeconfig, close: () => hub.close() };
}
