import { apiVersionOf } from '../../core/model/kinds.ts';
import type { KubeApi } from '../../core/ports.ts';
import {
  ADMISSION_NAME,
  hasAll,
  type WebhookAddress,
  webhookConfigurations,
} from '../../core/registration/webhooks/webhook-configurations.ts';

const WRITE = { fieldManager: 'berth-admission' };

/**
 * Makes the hub ask the webhooks, and keeps what it asks about and whom it trusts as they should be.
 *
 * @param trusted authorities of the certificate, PEM
 * @returns kinds of the configurations that were written
 * @throws what the hub answers
 */
export async function keepConfigurations(
  hub: KubeApi,
  address: WebhookAddress,
  trusted: string,
): Promise<readonly string[]> {
  const written: string[] = [];
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  for (const { kind, webhooks } of webhookConfigurations(address, trusted, base64)) {
    const live = await hub.get(kind, { namespace: '', name: ADMISSION_NAME });
    if (live !== undefined && hasAll(live['webhooks'], webhooks)) continue;
    const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind };
    const metadata = live?.metadata ?? { name: ADMISSION_NAME };
    const wanted = { ...typed, metadata, webhooks };
    if (live === undefined) await hub.create(kind, wanted, WRITE);
    else await hub.update(kind, wanted, WRITE);
    written.push(kind.kind);
  }
  return written;
}
