import { sha256 } from '@berth/runtime/sha256';
import { InputError } from '@berth/runtime/errors';
import type { AgentOptions, AgentSettings } from './agent-options.ts';

/**
 * Fills in the defaults (those of OCM, if it has them).
 * @throws InputError for invalid options
 */
export function agentSettings(options: AgentOptions): AgentSettings {
  const { clusterName, hub } = options;
  if (clusterName === '')
    throw new InputError('is empty, expected the name of the managed cluster', {
      code: 'agent.cluster-name',
      subject: 'cluster name',
      hint: 'the cluster name is the namespace of the ManifestWorks on the hub',
    });
  const hubHash = hubHashOf(hub.server);
  return {
    ...options,
    hubHash,
    agentId: options.agentId === undefined || options.agentId === '' ? hubHash : options.agentId,
    random: options.random ?? Math.random,
    statusSyncIntervalMs: options.statusSyncIntervalMs ?? 10_000,
    resyncIntervalMs: options.resyncIntervalMs ?? 240_000,
    evictionGraceMs: options.evictionGraceMs ?? 3_600_000,
    workers: options.workers ?? 10,
    maxWatches: options.maxWatches ?? 200,
    drift: options.drift ?? 'watch',
    executorCache: options.executorCache ?? false,
    feedback: { rawJson: false, maxRawJsonBytes: 1024, ...options.feedback },
    emit: options.onEvent ?? (() => undefined),
  };
}

/**
 * Lower-case hex SHA-256 of the hub's server URL. The URL must never be normalised, because the names of
 * AppliedManifestWorks contain the hash.
 */
export function hubHashOf(server: string): string {
  return sha256(server);
}
