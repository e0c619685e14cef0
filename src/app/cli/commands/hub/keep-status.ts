import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import type { Logger } from '@berth/runtime/logger';
import { keepOperatorStatus } from '../../../../controllers/installation/keep-operator-status.ts';

/**
 * Keeps the status of the objects by which `berth init` and `berth join` show what they installed, until the signal.
 * @param members those that may be joined
 */
export async function keepStatus(
  { adminKubeconfigPath: file }: Pick<RunningHub, 'adminKubeconfigPath'>,
  members: readonly KubeApi[],
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const hub = new HttpKubeApi({ config: loadKubeConfig({ file }), clock, userAgent: 'berth-status' });
  await keepOperatorStatus({ hub, members, clock, log }, signal);
  hub.close();
}
