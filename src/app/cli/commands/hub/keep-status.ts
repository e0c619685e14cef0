import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import type { Logger } from '@berth/runtime/logger';
import { keepOperatorStatus } from '../../../../controllers/installation/keep-operator-status.ts';

/**
 * Keeps the status of the objects by which `berth init` and `berth join` show what they installed, until the signal.
 * @param members that may be joined
 */
export async function keepStatus(
  running: RunningHub,
  members: readonly string[],
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const connect = (file: string): HttpKubeApi =>
    new HttpKubeApi({ config: loadKubeConfig({ file }), clock, userAgent: 'berth-status' });
  const hub = connect(running.adminKubeconfigPath);
  const joinable = members.map((name) => connect(running.memberKubeconfigPath(name)));
  await keepOperatorStatus({ hub, members: joinable, clock, log }, signal);
  for (const api of [hub, ...joinable]) api.close();
}
