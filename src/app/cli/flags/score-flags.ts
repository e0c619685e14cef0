import type { Command } from 'commander';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import type { CliIo } from '../../terminal/cli-io.ts';
import { oneOf, positiveDuration } from './option-values.ts';
import { wrongOption } from './wrong-option.ts';

/** Common flags of score providers. */
export interface ScoreFlags {
  readonly hubKubeconfig?: string;
  readonly scoreName: string;
  readonly refresh: string;
  readonly validFor: string;
  readonly logLevel: string;
}

export interface ScoreProviderContext {
  readonly hub: KubeApi;
  /** Creates the client of another kubeconfig. */
  readonly clientOf: (kubeconfig: string | undefined) => KubeApi;
  readonly scoreName: string;
  readonly refreshMs: number;
  readonly validMs: number;
  readonly clock: MonotonicClock;
  readonly random: () => number;
  readonly log: Logger;
}

/** @param scoreName the default name */
export function addScoreFlags(command: Command, scoreName: string): Command {
  return command
    .option('--hub-kubeconfig <file>', 'kubeconfig of the hub')
    .option('--score-name <name>', 'name of the AddOnPlacementScore', scoreName)
    .option('--refresh <duration>', 'interval between scores, plus a random 0 to 10 %', '60s')
    .option('--valid-for <duration>', 'how long a score is valid; at least twice --refresh', '5m')
    .option('--log-level <level>', 'debug, info, warn, error', 'info');
}

/**
 * Runs `provide` until the process is stopped, then closes the clients.
 * @throws InputError for an invalid flag
 */
export async function runScoreProvider(
  io: CliIo,
  flags: ScoreFlags,
  provide: (context: ScoreProviderContext) => Promise<void>,
): Promise<void> {
  const { hubKubeconfig, scoreName } = flags;
  if (!hubKubeconfig)
    throw wrongOption('--hub-kubeconfig', 'is missing, expected the kubeconfig file of the hub');
  const refreshMs = positiveDuration('--refresh', flags.refresh);
  const validMs = positiveDuration('--valid-for', flags.validFor);
  if (validMs < 2 * refreshMs)
    throw wrongOption('--valid-for', 'is too short, expected at least twice --refresh');
  const level = oneOf('--log-level', flags.logLevel, ['debug', 'info', 'warn', 'error'] as const);
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const { createLogger } = await import('../../../adapters/log/pino-logger.ts');
  const { AgentClients } = await import('@berth/agent/agent-clients');
  const log = createLogger({ level, stream: io.stderr });
  const clients = new AgentClients({ env: io.env, clock, log });
  try {
    const clientOf = (kubeconfig: string | undefined): KubeApi => clients.of(kubeconfig).api;
    const hub = clientOf(hubKubeconfig);
    io.cutOff.addEventListener('abort', () => clients.close(), { once: true });
    await provide({ hub, clientOf, scoreName, refreshMs, validMs, clock, random: Math.random, log });
  } finally {
    clients.close();
  }
}
