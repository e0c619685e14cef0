import type { ForgeApi } from '../request/forge-api.ts';
import { ResponseFields } from '../request/response-fields.ts';

/** A webhook of a repository, as its forge has it. */
export interface ForgeWebhook {
  readonly id: string;
  readonly url: string;
  readonly isActive: boolean;
  /** As the forge names them. */
  readonly events: readonly string[];
  /** How the last delivery ended, such as `200` or `FAILURE`; absent if there was none, or the forge does not say. */
  readonly lastDelivery?: { readonly result: string; readonly isGood: boolean } | undefined;
}

interface WantedWebhook {
  readonly url: string;
  readonly secret: string;
}

/** What a new token is for. */
export interface WantedToken {
  /** The account that is created, where tokens belong to accounts. */
  readonly account: string;
  /** Unique among the tokens of the account. */
  readonly name: string;
  /** Date, for forges whose tokens must expire: `2027-01-31`. */
  readonly expiresOn: string;
  /** Of a new account. Nobody needs to know it. */
  readonly password: string;
}

export interface IssuedToken {
  readonly token: string;
  /** A sentence about what was made. */
  readonly text: string;
}

/**
 * What an administrator of a repository sets up for previews. It is used with the token of a person. Failures are those
 * of `PullRequestForge`.
 */
export interface ForgeSetup {
  /** The events that a webhook needs, as the forge names them when it lists webhooks. */
  readonly events: readonly string[];
  /** The first hundred webhooks of the repository; fewer where pages are smaller. */
  webhooks(signal: AbortSignal): Promise<readonly ForgeWebhook[]>;
  /** Creates the webhook, or changes the one with the same address. */
  writeWebhook(wanted: WantedWebhook, signal: AbortSignal): Promise<void>;
  /** Whether the account exists. Absent where no token belongs to an account that is created for it. */
  readonly hasAccount?: (account: string, signal: AbortSignal) => Promise<boolean>;
  /** Issues a token for Berth. Absent where only a person can. */
  readonly issueToken?: (wanted: WantedToken, signal: AbortSignal) => Promise<IssuedToken>;
  /** Gives an account the rights that Berth needs. Absent where the token brings them. */
  readonly grant?: (account: string, signal: AbortSignal) => Promise<void>;
  /** The scopes of the token that is used. Undefined: the forge does not say. */
  readonly scopes: (signal: AbortSignal) => Promise<readonly string[] | undefined>;
  /** Scopes that suffice, where the forge says which a token has: each entry names alternatives. */
  readonly neededScopes: readonly (readonly string[])[];
  /** What a person does for a token, in one sentence. */
  readonly tokenByHand: string;
  /** What a person does to require the status before a merge, in one sentence. */
  readonly protectionByHand: string;
}

/** How a forge lists and writes the webhooks of a repository. */
interface WebhookDialect {
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
