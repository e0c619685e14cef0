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
}

/** `--hub FILE`: the manager on a real hub, until it is stopped. Without it: on a hub in memory. */
export async function runAddOn(
  { name, tryIt, runManager }: AddOnExample,
  args: readonly string[],
  print: (text: string) => void,
): Promise<void> {
  if (!args.includes('--hub')) return tryIt(print);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  const config = loadKubeConfig({ file: args[args.indexOf('--hub') + 1] });
  const hub = new HttpKubeApi({ config, clock: systemClock });
  print(`the manager of ${name} runs on ${hub.server}`);
  await runManager(hub, stop.signal);
  hub.close();
}
