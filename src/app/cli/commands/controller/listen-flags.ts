import type { Command } from 'commander';
import { WEBHOOK_PROVIDERS, type WebhookProvider } from '@berth/forge/event/webhook-event';
import type { ServeHttpOptions } from '../../../settings/serve-options.ts';
import { listenAddress, wrongOption, wrongValue } from '../../flags/option-values.ts';

/** The flags about what `berth serve` serves. */
export interface ListenFlags {
  readonly listen?: string;
  readonly tokenFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly protectMetrics: boolean;
  readonly webhook?: readonly string[];
  readonly publicUrl?: string;
  readonly peer?: readonly string[];
  readonly shutdownDelay: string;
}

export function addListenFlags(command: Command): Command {
  return command
    .option(
      '--listen <host:port>',
      'serve the dashboard, /healthz, /readyz, /metrics, the plugin endpoint and /api',
    )
    .option(
      '--token-file <file>',
      'bearer tokens of the plugin endpoint and /api: one per line, or YAML that declares what each may read (docs/argocd.md)',
    )
    .option('--tls-cert <file>', 'serve TLS: PEM certificate with its chain; reloaded when it changes')
    .option('--tls-key <file>', 'private key of --tls-cert')
    .option('--protect-metrics', 'require a token with the scope metrics for /metrics', false)
    .option(
      '--webhook <provider=file...>',
      'fetch when a forge reports a push to /webhooks/PROVIDER; the file contains the secrets, one per line',
    )
    .option(
      '--public-url <url>',
      'address at which users reach --listen, for links from pull requests to their full report',
    )
    .option(
      '--peer <url...>',
      'address of another replica: a standby forwards webhook deliveries about pull requests to it',
    )
    .option(
      '--shutdown-delay <duration>',
      'after SIGTERM, go on for this long, not ready any more, so that clients move to another replica; the time that ends the process by force starts afterwards',
      '0',
    );
}

/** @throws InputError for flags without effect, or without another flag that they need */
export function checkListening(flags: ListenFlags): void {
  const { webhook, tokenFile, tlsCert, tlsKey, protectMetrics, publicUrl, peer } = flags;
  const given = {
    '--webhook': webhook,
    '--public-url': publicUrl,
    '--peer': peer,
    '--token-file': tokenFile,
    '--tls-cert': tlsCert,
    '--tls-key': tlsKey,
    '--protect-metrics': protectMetrics ? true : undefined,
  };
  const [unusedFlag] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (flags.listen === undefined && unusedFlag !== undefined)
    throw wrongOption(unusedFlag, 'has no effect without --listen HOST:PORT');
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw wrongOption('--tls-cert', 'needs --tls-key, and the other way round');
  if (protectMetrics && tokenFile === undefined)
    throw wrongOption('--protect-metrics', 'needs --token-file, otherwise no client could read /metrics');
}

/** @throws InputError for an invalid value */
export function httpOptions(listen: string, flags: ListenFlags): ServeHttpOptions {
  const webhookSecretFiles = Object.fromEntries((flags.webhook ?? []).map(webhookSecretFile));
  const { tlsCert, tlsKey, tokenFile, protectMetrics, publicUrl } = flags;
  if (publicUrl !== undefined && !/^https?:\/\/[^\s()<>?#]+$/.test(publicUrl))
    throw wrongValue('--public-url', publicUrl, 'a URL such as https://berth.example.com');
  const { peer: peers = [] } = flags;
  const wrongPeer = peers.find((url) => !/^https?:\/\/[^\s()<>?#]+$/.test(url));
  if (wrongPeer !== undefined)
    throw wrongValue('--peer', wrongPeer, 'a URL such as https://berth-1.berth:8443');
  return {
    ...listenAddress('--listen', listen),
    tokenFile,
    protectMetrics,
    publicUrl,
    peers,
    ...(tlsCert !== undefined && tlsKey !== undefined && { tls: { certFile: tlsCert, keyFile: tlsKey } }),
    webhookSecretFiles,
  };
}

function webhookSecretFile(text: string): [WebhookProvider, string] {
  const [, name, file = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const provider = WEBHOOK_PROVIDERS.find((known) => known === name);
  if (provider === undefined)
    throw wrongValue('--webhook', text, `PROVIDER=FILE with one of ${WEBHOOK_PROVIDERS.join(', ')}`);
  return [provider, file];
}
