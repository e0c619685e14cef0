import type { Command } from 'commander';
import type { WebhookAddress } from '../../../../core/registration/webhooks/webhook-configurations.ts';
import { DEFAULT_NAMESPACE } from '../../../../core/sync/apply-set.ts';
import type { ServeAdmissionOptions } from '../../../settings/serve-options.ts';
import { listenAddress, wrongOption, wrongValue } from '../../flags/option-values.ts';

/** Flags that make `berth serve` check clusters, sets and bindings for a hub without OCM's webhooks. */
export interface AdmissionFlags {
  readonly admissionListen?: string;
  readonly admissionService?: string;
  readonly admissionUrl?: string;
}

const DEFAULT_SERVICE = `${DEFAULT_NAMESPACE}/berth-admission`;

export function addAdmissionFlags(command: Command): Command {
  return command
    .option(
      '--admission-listen <host:port>',
      'serve webhooks that check clusters, sets and bindings, and convert add-ons, for a hub without OCM’s webhooks (docs/registration.md)',
    )
    .option(
      '--admission-service <namespace/name[:port]>',
      `Service by which the hub reaches --admission-listen (default: ${DEFAULT_SERVICE}:443)`,
    )
    .option(
      '--admission-url <url>',
      'address of these webhooks if Berth runs outside of the hub: https://HOST[:PORT]',
    );
}

/**
 * Undefined: Berth serves no admission webhooks.
 *
 * @throws InputError for flags that cannot be used
 */
export function admissionOptions(flags: AdmissionFlags): ServeAdmissionOptions | undefined {
  const { admissionListen: listen, admissionService: service, admissionUrl: url } = flags;
  if (listen === undefined) {
    const unusedFlag = service === undefined ? '--admission-url' : '--admission-service';
    if (service !== undefined || url !== undefined)
      throw wrongOption(unusedFlag, 'has no effect without --admission-listen HOST:PORT');
    return undefined;
  }
  if (service !== undefined && url !== undefined)
    throw wrongOption('--admission-url', 'cannot be used with --admission-service, expected one of them');
  const address = url === undefined ? serviceAddress(service ?? DEFAULT_SERVICE) : urlAddress(url);
  return { ...listenAddress('--admission-listen', listen), address };
}

function serviceAddress(text: string): WebhookAddress {
  const [, namespace, name, port = '443'] = /^([a-z0-9-]+)\/([a-z0-9-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (namespace === undefined || name === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw wrongValue('--admission-service', text, 'NAMESPACE/NAME or NAMESPACE/NAME:PORT');
  return { kind: 'service', namespace, name, port: Number(port) };
}

/** API servers refuse a user, query or fragment in the address of a webhook. */
function urlAddress(text: string): WebhookAddress {
  if (!/^https:\/\/[^\s/?#@]+\/?$/.test(text) || !URL.canParse(text))
    throw wrongValue('--admission-url', text, 'https://HOST or https://HOST:PORT');
  return { kind: 'url', url: text };
}
