/** Forges whose pull requests Berth previews and whose commits get its statuses. */
export const FORGE_PROVIDERS = [
  'gitea',
  'github',
  'gitlab',
  'bitbucket',
  'bitbucket-data-center',
  'azure-devops',
] as const;
export type ForgeProvider = (typeof FORGE_PROVIDERS)[number];
