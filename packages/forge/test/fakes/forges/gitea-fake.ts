import { GitHubLikeFake } from './github-like-fake.ts';

/** Gitea and Forgejo. Source: docs.gitea.com/api, docs.gitea.com/usage/webhooks. */
export class GiteaFake extends GitHubLikeFake {
  readonly provider = 'gitea';
  protected readonly pageSize = 'limit';

  delivery(event: string, payload: object, secret: string, id = String(this.nextId++)): RequestInit {
    return this.signed(payload, secret, (hex) => ({
      'x-gitea-event': event,
      'x-gitea-signature': hex,
      'x-gitea-delivery': id,
    }));
  }
}
