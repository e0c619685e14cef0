/** Of every file that Berth keeps: mirrors of private repositories, tokens, what was decided from them. */
export const PRIVATE_FILE_MODE = 0o600;
export const PRIVATE_DIRECTORY_MODE = 0o700;
