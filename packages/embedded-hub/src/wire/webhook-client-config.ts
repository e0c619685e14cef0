import { type JsonObject, numberAt, objectAt, textAt } from '../json/json-value.ts';

/** Address and CA of a webhook: the `clientConfig` of a webhook configuration or a CRD. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: WebhookService;
  /** Undefined: the default authorities of the process. */
  readonly caPem?: string;
}

export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  /** '' or `/path`. */
  readonly path: string;
  readonly port: number;
}

const DEFAULT_PORT = 443;

/** A stored `clientConfig`, which was validated when it was written. */
export function readWebhookClientConfig(json: JsonObject | undefined): WebhookClientConfig {
  const url = textAt(json, 'url');
  const service = objectAt(json, 'service');
  const caPem = Buffer.from(textAt(json, 'caBundle'), 'base64').toString('utf8').trim();
  return {
    ...(url !== '' && { url }),
    ...(service !== undefined && {
      service: {
        namespace: textAt(service, 'namespace'),
        name: textAt(service, 'name'),
        path: textAt(service, 'path'),
        port: numberAt(service, 'port') ?? DEFAULT_PORT,
      },
    }),
    ...(caPem !== '' && { caPem }),
  };
}
