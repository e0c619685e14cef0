import type { RunningContainer } from '@berth/addon/testing';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { systemClock } from '@berth/runtime/clock/system-clock';

export interface AddOnExample {
  readonly name: string;
  /** Shows the add-on at work, on a hub in memory. */
  readonly tryIt: (print: (text: string) => void) => Promise<void>;
  /** Runs the manager until the signal aborts. */
  readonly runManager: (hub: KubeApi, signal: AbortSignal) => Promise<void>;
  /** What the image runs on a cluster, in the pod of the add-on. */
  readonly runAgent?: (
    pod: Pick<RunningContainer, 'cluster' | 'namespace' | 'mounts' | 'signal'>,
  ) => Promise<void>;
}

/**
 * `--hub FILE`: the manager on a real hub. `--agent --namespace NAME`: the agent, in its pod. Both run until they are stopped. Without
 * either: on a hub in memory.
 */
export async function runAddOn(
  { name, tryIt, runManager, runAgent }: AddOnExample,
  args: readonly string[],
  print: (text: string) => void,
): Promise<void> {
  const valueOf = (flag: string) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
  const file = valueOf('--hub');
  const agent = args.includes('--agent') ? runAgent : undefined;
  if (file === undefined && agent === undefined) return tryIt(print);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  const api = new HttpKubeApi({ config: loadKubeConfig({ file }), clock: systemClock });
  const { signal } = stop;
  print(`the ${agent ? 'agent' : 'manager'} of ${name} runs on ${api.server}`);
  const pod = { cluster: api, namespace: valueOf('--namespace') ?? 'default', mounts: {}, signal };
  await (agent === undefined ? runManager(api, signal) : agent(pod));
  api.close();
}
