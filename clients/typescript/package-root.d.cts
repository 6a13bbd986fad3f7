/** The package's folder. */
export declare const packageRoot: string;
