import type { KubeConfigSource } from '@berth/kube/config/load-kube-config';
import { BUILTIN_KINDS } from '@berth/kube/model/kinds';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { OCM_GROUPS } from '@berth/ocm/definition/ocm-groups';
import { onAbort } from '@berth/runtime/loop/sleep';
import type { Command } from 'commander';
import type { KnownResources } from '../../../core/rbac/listed-kinds.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { wrongOption } from './option-values.ts';

/** Flags of every command that connects to a hub. */
export interface HubFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** @param of the cluster of the kubeconfig, for the help */
export function addHubFlags(command: Command, of = 'the hub'): Command {
  return command
    .option('--kubeconfig <file>', `kubeconfig of ${of} (default: KUBECONFIG, ~/.kube/config, in-cluster)`)
    .option('--context <name>', 'context of the kubeconfig');
}

/**
 * Whether a command that reads files by default must read a hub: `--hub`, or a flag that implies
 * it.
 */
export function isHubRequested(flags: HubFlags & { readonly hub: boolean }): boolean {
  return flags.hub || flags.kubeconfig !== undefined || flags.context !== undefined;
}

export const EMBEDDED_HELP =
  'Berth decides all placements of the hub, as with berth serve --embedded (default: as its controllers say on the hub)';

/**
 * @param knowsHub the command reads a hub, or an inventory of one
 * @returns `all` with the flag; undefined: as the controllers say on the hub
 * @throws InputError when the flag is given without a hub
 */
export function givenDecided(
  { embedded }: { readonly embedded: boolean },
  knowsHub: boolean,
): 'all' | undefined {
  if (embedded && !knowsHub)
    throw wrongOption('--embedded', 'has no effect without --hub or --kubeconfig FILE');
  return embedded ? 'all' : undefined;
}

/** Connects, runs `use`, and closes the connection. The client is loaded only here, so that other commands start without it. */
export async function withHub<T>(
  io: CliIo,
  flags: HubFlags,
  use: (hub: KubeApi & ServerEndpoints) => Promise<T>,
): Promise<T> {
  return withServer(io, { file: flags.kubeconfig, context: flags.context }, use);
}

/**
 * Connects to any API server, runs `use`, and closes the connection.
 * @param source of its kubeconfig
 */
export async function withServer<T>(
  io: CliIo,
  source: KubeConfigSource,
  use: (api: KubeApi & ServerEndpoints) => Promise<T>,
): Promise<T> {
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const { HttpKubeApi } = await import('@berth/kube/http-kube-api');
  const { systemClock } = await import('@berth/runtime/clock/system-clock');
  const config = loadKubeConfig({ ...source, env: io.env });
  const hub = new HttpKubeApi({ config, clock: systemClock });
  onAbort(io.cutOff, () => hub.close());
  try {
    return await use(hub);
  } finally {
    hub.close();
  }
}

const ARGO_CD = ['Application', 'ApplicationSet', 'AppProject'].map((kind) => ({ kind }));

/** The resources of the kinds of Kubernetes, OCM and Argo CD. */
export function knownResources(): KnownResources {
  const others = Object.entries({ ...OCM_GROUPS, 'argoproj.io': ARGO_CD }).flatMap(([group, kinds]) =>
    kinds.map(({ kind }) => ({ group, kind, plural: `${kind.toLowerCase()}s` })),
  );
  return new Map(
    [...BUILTIN_KINDS, ...others].map(({ group, kind, plural }) => [`${group}/${kind}`, plural]),
  );
}
