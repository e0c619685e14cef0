import type { ForgeApi } from '../request/forge-api.ts';
import { ResponseFields } from '../request/response-fields.ts';
import type { ForgeSetup, ForgeWebhook, WantedWebhook } from './forge-setup.ts';

/** How a forge lists and writes the webhooks of a repository. */
export interface WebhookDialect {
  readonly path: string;
  /** With the size of a page. */
  readonly listPath: string;
  readonly events: readonly string[];
  readonly change: 'PATCH' | 'PUT';
  readonly read: (item: ResponseFields) => ForgeWebhook | undefined;
  /** The body that creates or changes one. */
  readonly body: (wanted: WantedWebhook) => object;
  /** Asks for the last delivery, where the list does not have it. */
  readonly lastDelivery?: (id: string, signal: AbortSignal) => Promise<ForgeWebhook['lastDelivery']>;
}

/** Webhooks that are one object of a list each: all forges but Azure DevOps. */
export function repositoryWebhooks(
  api: ForgeApi,
  dialect: WebhookDialect,
): Pick<ForgeSetup, 'events' | 'webhooks' | 'writeWebhook'> {
  const { path, listPath, events, change, read, body, lastDelivery } = dialect;
  const list = async (signal: AbortSignal): Promise<readonly ForgeWebhook[]> => {
    const answered = await api.request(signal, 'GET', listPath);
    const values = answered.at('values');
    const items = (values === undefined ? answered : new ResponseFields(values)).list(api.subject);
    return items.flatMap((item) => read(item) ?? []);
  };
  return {
    events,
    webhooks: async (signal) => {
      const all = await list(signal);
      if (lastDelivery === undefined) return all;
      return Promise.all(
        all.map(async (one) => ({ ...one, lastDelivery: await lastDelivery(one.id, signal) })),
      );
    },
    writeWebhook: async (wanted, signal) => {
      const known = (await list(signal)).find(({ url }) => url === wanted.url);
      if (known === undefined) await api.request(signal, 'POST', path, body(wanted));
      else await api.request(signal, change, `${path}/${encodeURIComponent(known.id)}`, body(wanted));
    },
  };
}

/** The events of a webhook that has each as a text. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
