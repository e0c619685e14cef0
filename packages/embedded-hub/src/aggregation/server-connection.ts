import type { RequestOptions } from 'node:https';
import { request as httpsRequest } from 'node:https';
import type { PemPair } from '@berth/kube/x509/pem-pair';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject } from '../json/json-value.ts';
import { unavailable } from '../wire/status-errors.ts';
import type { AggregatedApi } from './api-services.ts';

/** The first client waits at most this long. */
const DISCOVERY_TIMEOUT_MS = 2_000;
const RESPONSE_LIMIT_BYTES = 16 * 1024 * 1024;
/** The user that requests the documents, as in kube-aggregator. */
const AGGREGATOR = { 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': 'system:masters' };

/**
 * Address, CA and client certificate for the server of an aggregated API.
 * @throws StatusError 503 when its Service cannot be resolved
 */
export function connectionTo(api: AggregatedApi, identity: PemPair): RequestOptions {
  if (api.host === '') throw unavailable(`the Service of ${api.name} resolves to no address`);
  return {
    host: api.host,
    port: api.port,
    servername: api.serverName,
    cert: identity.certPem,
    key: identity.keyPem,
    ...(api.caPem !== undefined && { ca: api.caPem }),
    rejectUnauthorized: !api.insecure,
  };
}

/**
 * A document of the server, as JSON.
 * @throws Error when there is none, or not in time
 */
export function fetchFromServer(api: AggregatedApi, identity: PemPair, path: string): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const headers = { ...AGGREGATOR, accept: 'application/json' };
    const signal = AbortSignal.timeout(DISCOVERY_TIMEOUT_MS);
    const sent = httpsRequest({ ...connectionTo(api, identity), path, headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      response.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes > RESPONSE_LIMIT_BYTES) sent.destroy(new Error('the response is too large'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        try {
          if (response.statusCode !== 200) throw new Error(`responded with ${String(response.statusCode)}`);
          const document = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonValue;
          if (!isObject(document)) throw new Error('the response is no JSON object');
          resolve(document);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
