/** Mode of every file that Berth writes: mirrors of private repositories, tokens, records. */
export const PRIVATE_FILE_MODE = 0o600;
export const PRIVATE_DIRECTORY_MODE = 0o700;
