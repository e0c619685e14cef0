import type { Command } from 'commander';
import type { KubeApi } from '../../../core/ports.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { wrongOption } from './wrong-option.ts';
import { onAbort } from '../../../runtime/on-abort.ts';

/** Flags of every command that talks to a hub. */
export interface HubFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export function addHubFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig of the hub (default: KUBECONFIG, ~/.kube/config, in-cluster)')
    .option('--context <name>', 'context of the kubeconfig');
}

/** For commands that read files unless a flag asks for a hub: `--hub`, or flags that make sense with it only. */
export function isHubRequested(flags: HubFlags & { readonly hub: boolean }): boolean {
  return flags.hub || flags.kubeconfig !== undefined || flags.context !== undefined;
}

export const EMBEDDED_HELP =
  'the hub is an embedded one: Berth decides every placement on it, as with berth serve --embedded';

/**
 * Whose placements on the hub Berth decides, as `berth serve` with the same flag.
 * @throws InputError when the flag is given without a hub
 */
export function decidedPlacements(
  flags: HubFlags & { readonly hub: boolean; readonly embedded: boolean },
): 'own' | 'all' {
  if (flags.embedded && !isHubRequested(flags))
    throw wrongOption('--embedded', 'has no effect without --hub or --kubeconfig FILE');
  return flags.embedded ? 'all' : 'own';
}

/** Connects, runs, and frees the connection. The client is loaded only here: other commands start without it. */
export async function withHub<T>(io: CliIo, flags: HubFlags, use: (hub: KubeApi) => Promise<T>): Promise<T> {
  const { loadKubeConfig } = await import('../../../adapters/kube/config/load-kube-config.ts');
  const { HttpKubeApi } = await import('../../../adapters/kube/http-kube-api.ts');
  const { systemClock } = await import('../../../adapters/clock/system-clock.ts');
  const config = loadKubeConfig({ file: flags.kubeconfig, context: flags.context, env: io.env });
  const hub = new HttpKubeApi({ config, clock: systemClock });
  onAbort(io.cutOff, () => hub.close());
  try {
    return await use(hub);
  } finally {
    hub.close();
  }
}
