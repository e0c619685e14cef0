/** The forges that Berth supports for previews of pull requests and for commit statuses. */
export const FORGE_PROVIDERS = [
  'gitea',
  'github',
  'gitlab',
  'bitbucket',
  'bitbucket-data-center',
  'azure-devops',
] as const;
export type ForgeProvider = (typeof FORGE_PROVIDERS)[number];
