use super::{Name, Strength, classify_name};

fn check(strength: Option<Strength>, names: &str) {
    for name in names.split_whitespace() {
        let said = match classify_name(name) {
            Some(Name::Credential(_, strength)) => Some(strength),
            Some(Name::Authorization | Name::Cookie) | None => None,
        };
        assert_eq!(said, strength, "{name}");
    }
}

#[test]
fn any_value_under_a_password_name_is_one() {
    check(
        Some(Strength::Password),
        "password PASSWORD Password db_password DB_PASSWORD dbPassword admin.password user-password password2 \
         password_old passwordProd MYSQL_ROOT_PASSWORD spring.datasource.password passwd passwd_prod sudo_passwd \
         passphrase sshPassphrase passcode pwd PWD db_pwd userPwd pw wifi_pw pass smtp_pass dbpass db_pass DB_PASS_SECURE \
         my_password_super_secure password_super_secure password_confirmation passwort kennwort Kennwort_neu motDePasse \
         mot_de_passe contrasena contraseña senha пароль 密码 パスワード 비밀번호 PSSWD PSWRD PSWORD PASWRD PASWORD \
         PSSWRD PSSWORD PASWD pswd PASSWD PASSWORD_PROD 密码DB 패스워드ROOT keystorePass pass_phrase_pwd",
    );
}

#[test]
fn a_secret_name_asks_for_more_than_a_word() {
    check(
        Some(Strength::Secret),
        "secret SECRET client_secret clientSecret CLIENT_SECRET_KEY secretKey secret_key secrete api_key apiKey APIKEY \
         x-api-key apikey_myservice api_key_prod my_private_key privateKey private_key access_token accessToken \
         refresh_token authToken _authToken auth_token_prod aws_secret_access_key AccountKey SharedAccessKey creds \
         credentials db_credentials connectionString connection-string encryption_key jwt_secret webhook_secret \
         app_secret_production secret_access signingKey licenseKey subscription-key sessionToken",
    );
}

#[test]
fn a_common_word_asks_for_a_drawn_value() {
    check(
        Some(Strength::Key),
        "key token TOKEN github_token SENTRY_KEY auth salt NONCE_SALT signature oauth secret_key_v2_path \
         private_key_file password_url client_secret_path sonar.login",
    );
}

#[test]
fn what_is_about_a_credential_is_none() {
    check(
        None,
        "name user username id host port url path count value text keyboard monkey donkey keys tokenizer tokenize secretary \
         passenger passport bypassed compass passwordless password_reset_url password_field password_length \
         password_min_length passwordHint password_policy password_type passwordLabel token_count tokenCount max_tokens \
         maxTokens num_tokens input_tokens public_key publicKey public_key_id key_id keyId secret_name secretName \
         secret_id secret_arn secretKeyRef password_hash_algorithm password_expires_at password_enabled passwordInput \
         api_key_id api_key_name access_key_id author authority authorize authored signal design sign salty pattern \
         path_prefix patch keyword keywords next_token page_token cancellationToken sort_key partition_key cache_key \
         foreign_key primary_key_index api_key_header_name secret_version client_secret_expires_at hot_key commit_token \
         accessory accessible basically credit is_password_set",
    );
}

#[test]
fn headers_are_known_by_name() {
    assert_eq!(classify_name("Authorization"), Some(Name::Authorization));
    assert_eq!(classify_name("proxy-authorization"), Some(Name::Authorization));
    assert_eq!(classify_name("Set-Cookie"), Some(Name::Cookie));
    assert_eq!(classify_name("cookie"), Some(Name::Cookie));
}

#[test]
fn a_name_of_any_length_has_an_answer() {
    for len in 0..400 {
        let long = "é_".repeat(len);
        assert_eq!(classify_name(&long), None);
        assert!(classify_name(&format!("{long}password")).is_some(), "{len}");
    }
}
